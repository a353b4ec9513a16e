"""Stores in forked children: what a parent has open there is not the child's."""

import os
import weakref
from typing import Protocol


class Forked(Protocol):
    def forked(self) -> None: ...


_EVERY: "weakref.WeakSet[Forked]" = weakref.WeakSet()


def notice(store: Forked) -> None:
    """`store.forked()` is called in each forked child, before anything else uses it."""
    _EVERY.add(store)


def _in_child() -> None:
    for store in list(_EVERY):
        store.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
