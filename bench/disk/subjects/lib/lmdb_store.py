"""What the subjects on py-lmdb share. Text goes in, and text comes out that outlives its
transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

import lmdb

from diskbench.store import Place, Store

# A map that is twice what values, keys and half-filled pages take.
ROOM_A_KEY = 400
LEAST_ROOM = 64 << 20
# Of a store that grows: sets of a transaction each that are timed, and the transactions before.
TIMED_SETS, LOADED_AT_ONCE = 100_000, 1000

T = TypeVar("T")


class LmdbStore(Store):
    """A transaction an operation, reads too: that is what sees other processes' writes."""

    versions = (
        ("lmdb (PyPI)", lmdb.__version__),
        ("liblmdb", ".".join(map(str, lmdb.version()))),
    )
    # Whether a write waits for the disk, and whether it goes right into the map.
    sync: ClassVar[bool] = False
    writemap: ClassVar[bool] = False
    timed_sets: ClassVar[int | None] = TIMED_SETS

    def __init__(self, place: Place) -> None:
        room = max(LEAST_ROOM, place.keys * (3 * place.size + ROOM_A_KEY))
        self.env = lmdb.open(
            str(place.directory),
            map_size=room,
            sync=self.sync,
            writemap=self.writemap,
            map_async=self.writemap,
        )
        self.begin = self.env.begin

    def set(self, key: str, value: str) -> None:
        with self.begin(write=True) as transaction:
            transaction.put(key.encode(), value.encode())

    def load_all(self, items: Sequence[tuple[str, str]]) -> None:
        for batch in _batches(items, LOADED_AT_ONCE):
            self._put_all(batch)

    def _put_all(self, items: Sequence[tuple[str, str]]) -> None:
        with self.begin(write=True) as transaction:
            put = transaction.put
            for key, value in items:
                put(key.encode(), value.encode())

    def get(self, key: str) -> str | None:
        with self.begin() as transaction:
            value = transaction.get(key.encode())
        return None if value is None else value.decode()

    def delete(self, key: str) -> None:
        with self.begin(write=True) as transaction:
            transaction.delete(key.encode())

    def close(self) -> None:
        self.env.close()


class LmdbBatches(LmdbStore):
    """So many operations in one transaction, reads too."""

    single = False
    timed_sets = None
    alone = "measured with a transaction an operation: lmdb"
    batch: ClassVar[int]

    def set_all(self, items: Sequence[tuple[str, str]]) -> None:
        for batch in _batches(items, self.batch):
            self._put_all(batch)

    def get_all(self, keys: Sequence[str]) -> int:
        misses = 0
        for batch in _batches(keys, self.batch):
            with self.begin() as transaction:
                get = transaction.get
                for key in batch:
                    value = get(key.encode())
                    if value is None:
                        misses += 1
                    else:
                        value.decode()
        return misses

    def delete_all(self, keys: Sequence[str]) -> None:
        for batch in _batches(keys, self.batch):
            with self.begin(write=True) as transaction:
                delete = transaction.delete
                for key in batch:
                    delete(key.encode())


def _batches(all: Sequence[T], count: int) -> list[Sequence[T]]:
    return [all[first : first + count] for first in range(0, len(all), count)]
