"""A store proves its work before it is timed."""

from __future__ import annotations

import os
import shutil
import signal
import sys

from .items import items
from .store import NONE, Place, Store

# Keys that are looked at.
SAMPLE = 300


class Wrong(Exception):
    """It is not what was promised."""


def check(kind: type[Store], place: Place) -> None:
    """Sets, gets, overwrites, deletes, reopens, and kills where writes are said to survive that.
    The place is empty before and after."""
    all_items = items(min(SAMPLE, place.keys), place.size)
    # First, because it forks, and libraries start threads when they are used.
    if kind.durability != NONE:
        check_kill(kind, place, all_items)
        empty(place)
    check_work(kind, place, all_items)
    empty(place)


def check_work(kind: type[Store], place: Place, written: list[tuple[str, str]]) -> None:
    store = kind(place)
    store.set_all(written)
    _expect(store, dict(written))
    value = written[0][1][::-1]
    store.set_all([(written[0][0], value)])
    gone = [key for key, _ in written[1::2]]
    store.delete_all(gone)
    expected: dict[str, str | None] = {**dict(written), written[0][0]: value}
    expected |= dict.fromkeys(gone)
    _expect(store, expected)
    misses = store.get_all([key for key, _ in written])
    if misses != len(gone):
        raise Wrong(f"it misses {misses} keys, and {len(gone)} were deleted")
    store.close()
    store = kind(place)
    _expect(store, expected)
    store.close()


def check_kill(kind: type[Store], place: Place, written: list[tuple[str, str]]) -> None:
    """What a process wrote before it killed itself is there."""
    child = os.fork()
    if child == 0:
        try:
            # Held by a name: some stores write what they have when they are no longer held.
            store = kind(place)
            store.set_all(written)
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        raise Wrong("a second process could not write")
    store = kind(place)
    _expect(store, dict(written))
    store.close()


def empty(place: Place) -> None:
    """A folder with nothing in it."""
    shutil.rmtree(place.directory, ignore_errors=True)
    place.directory.mkdir(parents=True)


def _expect(store: Store, expected: dict[str, str] | dict[str, str | None]) -> None:
    for key, value in expected.items():
        read = store.get(key)
        if read != value:
            raise Wrong(f"{key}: it read {_short(read)}, not {_short(value)}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 40 else f"{text[:30]}... ({sys.getsizeof(value)} bytes)"
