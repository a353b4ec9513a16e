"""Locks for threads and processes, kept in a cache.

A lock is an entry. A holder whose process has died does not hold it any more.
"""

import os
import threading
import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any

from .holders import has_died, me

PAUSE = 0.001


class _Held(ABC):
    """What the locks share: `with`."""

    def __init__(self, cache: Any, key: Any, expire: float | None = None, tag: Any = None) -> None:
        self._cache = cache
        self._key = key
        self._expire = expire
        self._tag = tag

    def acquire(self) -> None:
        """Waits until the caller has it."""
        while not self._try():
            time.sleep(PAUSE)

    @abstractmethod
    def _try(self) -> bool: ...

    @abstractmethod
    def release(self) -> None:
        """Gives it back."""

    def _set(self, value: Any) -> None:
        self._cache.set(self._key, value, expire=self._expire, tag=self._tag, retry=True)

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()


class Lock(_Held):
    """One holder at a time. With `expire` nobody holds it for longer than so many seconds."""

    def _try(self) -> bool:
        if self._cache.add(self._key, me(), expire=self._expire, tag=self._tag, retry=True):
            return True
        if self._is_held():
            return False
        with self._cache.transact(retry=True):
            if self._is_held():
                return False
            self._set(me())
            return True

    def release(self) -> None:
        """Gives it back, whoever holds it."""
        self._cache.delete(self._key, retry=True)

    def locked(self) -> bool:
        """True while someone holds it."""
        return self._is_held()

    def _is_held(self) -> bool:
        holder = self._cache.get(self._key, retry=True)
        # None is what diskcache's own lock left in a directory that was imported.
        return holder is not None and not has_died(holder)


class RLock(_Held):
    """One thread at a time, which may acquire it again, and releases it as often."""

    def _try(self) -> bool:
        mine = f"{os.getpid()}-{threading.get_ident()}"
        with self._cache.transact(retry=True):
            owner, count, holder = self._found()
            if owner != mine and count and not has_died(holder):
                return False
            self._set([mine, count + 1 if owner == mine and not has_died(holder) else 1, me()])
            return True

    def release(self) -> None:
        """Gives it back once. Raises AssertionError in a thread that does not hold it."""
        mine = f"{os.getpid()}-{threading.get_ident()}"
        with self._cache.transact(retry=True):
            owner, count, holder = self._found()
            if owner != mine or count == 0 or has_died(holder):
                raise AssertionError("cannot release un-acquired lock")
            self._set([owner, count - 1, holder])

    def _found(self) -> tuple[str | None, int, Any]:
        found = self._cache.get(self._key, retry=True)
        if isinstance(found, list | tuple) and len(found) == 3:
            return tuple(found)
        # None, or what diskcache's own lock left in a directory that was imported.
        return None, 0, None


class BoundedSemaphore(_Held):
    """`value` holders at a time."""

    def __init__(
        self,
        cache: Any,
        key: Any,
        value: int = 1,
        expire: float | None = None,
        tag: Any = None,
    ) -> None:
        super().__init__(cache, key, expire, tag)
        self._value = value

    def _try(self) -> bool:
        with self._cache.transact(retry=True):
            holders = self._holders()
            if len(holders) >= self._value:
                holders = [holder for holder in holders if not has_died(holder)]
            if len(holders) >= self._value:
                return False
            self._set([*holders, me()])
            return True

    def release(self) -> None:
        """Gives one place back. Raises AssertionError when nobody has one."""
        with self._cache.transact(retry=True):
            holders = self._holders()
            if not holders:
                raise AssertionError("cannot release un-acquired semaphore")
            # Another thread or process may release it, as one that counts.
            holders.remove(me() if me() in holders else holders[0])
            self._set(holders)

    def _holders(self) -> list[Any]:
        found = self._cache.get(self._key, retry=True)
        # diskcache's own semaphore left a number.
        return list(found) if isinstance(found, list | tuple) else []
