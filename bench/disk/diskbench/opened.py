"""What every subject of one process shares: a store that is opened, and opened again."""

from __future__ import annotations

import gc
from time import perf_counter

from subject import Subject

from .check import check, empty
from .store import Place, Store
from .usage import allocated


class Opened(Subject):
    kind: type[Store]
    place: Place
    store: Store | None = None
    # Bytes of the disk that the store took when it was last closed.
    size = 0

    def check(self) -> None:
        check(self.kind, self.place)

    def close(self) -> None:
        if self.store:
            self.store.close()

    @property
    def opened(self) -> Store:
        assert self.store, "SET opens it"
        return self.store

    def begin(self) -> Store:
        """An empty store."""
        if self.store:
            self.store.close()
        # Libraries must not free old memory while we measure.
        self.store = None
        gc.collect()
        empty(self.place)
        self.store = self.kind(self.place)
        return self.store

    def reopened(self, key: str, value: str) -> float:
        """Milliseconds of close, open and the first get. The size is taken in between, when nothing
        is held back from the disk."""
        store, self.store = self.opened, None
        start = perf_counter()
        store.close()
        del store
        closed = perf_counter()
        self.size = allocated(self.place.directory)
        opening = perf_counter()
        self.store = self.kind(self.place)
        found = self.store.get(key)
        end = perf_counter()
        if found != value:
            raise LookupError(f"{key} was not there any more")
        return (end - opening + closed - start) * 1000
