"""What a subject's file defines: how its store is opened, written, read and closed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

# What a write survives once it has returned: nothing, any process' death, or the machine's too.
# Compare within a class.
NONE = "durability: none"
SURVIVES_KILL = "durability: survives kill -9"
SYNCED = "durability: synced"

# Said where values lie as they are.
NO = "no compression"


@dataclass(frozen=True)
class Place:
    """Where a store is, and the most that it will hold: this many keys with text of `size` bytes
    each. `churn` says that all keys are overwritten over and over; `growing`, that an empty store
    grows to so many, and few are overwritten."""

    directory: Path
    keys: int
    size: int
    churn: bool = False
    growing: bool = False


class Store(ABC):
    """Opened by its constructor; keeps existing data. Text goes in and comes out."""

    name: ClassVar[str]
    durability: ClassVar[str] = SURVIVES_KILL
    compression: ClassVar[str] = NO
    # More that its rows say.
    notes: ClassVar[Sequence[str]] = ()
    # Names and versions of what is measured.
    versions: ClassVar[Sequence[tuple[str, str]]] = ()
    # Most keys of a round; the figures of slow stores are scaled up from them.
    most: ClassVar[int | None] = None
    # True where reads are another subject's, and a few keys would give misleading figures.
    writes_only: ClassVar[bool] = False
    # Why it is not measured with several processes at once.
    alone: ClassVar[str] = ""
    # False where only the loops below say what is done: operations cannot be timed one by one.
    single: ClassVar[bool] = True
    # Of a store that grows, the last so many sets are timed; what was before is brought in by
    # `load_all`. None: all are.
    timed_sets: ClassVar[int | None] = None
    # True where an index may have no place for a key, though there is room for its entry.
    has_conflicts: ClassVar[bool] = False

    # Methods, or those of the store itself, which the constructor assigns: a call less to time. A
    # get of what is not there is None.
    set: Callable[[str, str], object]
    get: Callable[[str], str | None]
    delete: Callable[[str], object]

    @abstractmethod
    def __init__(self, place: Place) -> None:
        """Opens what lies at the place, or makes it."""

    @abstractmethod
    def close(self) -> None:
        """Leaves on the disk what another process can open."""

    def set_all(self, items: Sequence[tuple[str, str]]) -> None:
        set = self.set
        for key, value in items:
            set(key, value)

    def load_all(self, items: Sequence[tuple[str, str]]) -> None:
        """Many new keys, as quickly as the store takes them."""
        self.set_all(items)

    def conflicts(self) -> int:
        """Entries that were evicted because the index had no place for another."""
        return 0

    def get_all(self, keys: Sequence[str]) -> int:
        """How many were not there."""
        get, misses = self.get, 0
        for key in keys:
            if get(key) is None:
                misses += 1
        return misses

    def delete_all(self, keys: Sequence[str]) -> None:
        delete = self.delete
        for key in keys:
            delete(key)
