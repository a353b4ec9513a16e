"""The option `store`, by name or as a class, and what the native part has to know of it."""

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidArgument
from .store import Durability, Ended, Opening, Store

NAMES = {
    "lmdb": ("lmdb", "LmdbStore"),
    "rocksdb": ("rocksdb", "RocksdbStore"),
    "dbm": ("dbm_sqlite", "SqliteStore"),
    "dbm.sqlite3": ("dbm_sqlite", "SqliteStore"),
    "dbm.gnu": ("dbm_gnu", "GnuStore"),
    "dbm.ndbm": ("dbm_ndbm", "NdbmStore"),
    "berkeleydb": ("berkeleydb", "BerkeleydbStore"),
    "files": ("files", "FilesStore"),
}
"""The module and the class of each store; it is imported when it is asked for."""
_CLASSES: tuple[Durability, ...] = ("none", "kill", "synced")


@dataclass(frozen=True, slots=True)
class Kind:
    """A store that was chosen, as the native part asks for it."""

    given: type[Store]
    durability: Durability
    name: str

    @property
    def is_shared(self) -> bool:
        return self.given.processes

    @property
    def counts(self) -> bool:
        return self.given.counts

    @property
    def reclaims(self) -> bool:
        return self.given.reclaim is not Store.reclaim

    @property
    def pops(self) -> bool:
        return self.given.pop is not Store.pop

    @property
    def has_files(self) -> bool:
        return self.given.has_files

    @property
    def max_key(self) -> int:
        return self.given.max_key

    @property
    def max_value(self) -> int:
        return self.given.max_value

    def open(self, folder: str, limit: int, ended: Ended, alone: bool, read_only: bool) -> Store:
        return self.given(
            Opening(
                folder=Path(folder),
                limit=limit,
                ended=ended,
                alone=alone,
                read_only=read_only,
                durability=self.durability,
            )
        )


def kind_of(store: Any, durability: Any) -> Kind | None:
    """What the options `store` and `durability` mean; None for the host tier.

    Raises `InvalidArgument`, also where a library is missing.
    """
    if durability is not None and durability not in _CLASSES:
        words = ", ".join(f'"{word}"' for word in _CLASSES)
        raise InvalidArgument(f"durability is one of {words}, not {durability!r}")
    if store is None or store == "host":
        if durability not in (None, "kill"):
            raise InvalidArgument(
                'the store host has the durability "kill", and writes to the disk now and then: '
                "see flush_every"
            )
        return None
    given = _class_of(store)
    if durability is None:
        durability = given.durabilities[0]
    if durability not in given.durabilities:
        words = ", ".join(f'"{word}"' for word in given.durabilities)
        raise InvalidArgument(f"{_name(given)} has the durability {words}, not {durability!r}")
    return Kind(given, durability, _name(given))


def _class_of(store: Any) -> type[Store]:
    if isinstance(store, str):
        if store not in NAMES:
            names = ", ".join(["host", *NAMES])
            raise InvalidArgument(f"store is one of {names}, or a class, not {store!r}")
        module, name = NAMES[store]
        given: type[Store] = getattr(importlib.import_module(f"{__package__}.{module}"), name)
        return given
    if isinstance(store, type) and issubclass(store, Store):
        return store
    raise InvalidArgument(
        f"store is a name or a class that extends polycache.stores.Store, not {store!r}"
    )


def _name(given: type[Store]) -> str:
    return given.name or f"{given.__module__}.{given.__qualname__}"


def missing(package: str, store: str) -> InvalidArgument:
    """The error of a store whose library is not installed."""
    return InvalidArgument(
        f'store="{store}" needs the package {package}: pip install "polycache[{store}]"'
    )
