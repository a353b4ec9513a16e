"""What diskcache calls recipes, other than its locks."""

import math
import random
import threading
import time
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, TypeVar

from .arguments import full_name
from .constants import ENOVAL
from .locks import BoundedSemaphore, Lock, RLock
from .memoizing import key_maker

__all__ = [
    "Averager",
    "BoundedSemaphore",
    "Lock",
    "RLock",
    "barrier",
    "memoize_stampede",
    "throttle",
]

F = TypeVar("F", bound=Callable[..., Any])


class Averager:
    """A running average of what all processes add."""

    def __init__(self, cache: Any, key: Any, expire: float | None = None, tag: Any = None) -> None:
        self._cache = cache
        self._key = key
        self._expire = expire
        self._tag = tag

    def add(self, value: float) -> None:
        """Adds a value to the average."""
        with self._cache.transact(retry=True):
            total, count = self._cache.get(self._key, (0.0, 0), retry=True)
            self._cache.set(
                self._key,
                (total + value, count + 1),
                expire=self._expire,
                tag=self._tag,
                retry=True,
            )

    def get(self) -> float | None:
        """The average, or None when nothing was added."""
        return _average(self._cache.get(self._key, (0.0, 0), retry=True))

    def pop(self) -> float | None:
        """The average, which begins anew."""
        return _average(self._cache.pop(self._key, (0.0, 0), retry=True))


def _average(pair: Any) -> float | None:
    total, count = pair
    return None if count == 0 else total / count


def throttle(
    cache: Any,
    count: int,
    seconds: float,
    name: str | None = None,
    expire: float | None = None,
    tag: Any = None,
    time_func: Callable[[], float] = time.time,
    sleep_func: Callable[[float], Any] = time.sleep,
) -> Callable[[F], F]:
    """A decorator that lets a function be called `count` times in so many `seconds`, by all
    processes together; other calls wait.

    Decorating begins the count anew, in every process that does.
    """
    rate = count / float(seconds)

    def decorate(function: Any) -> Any:
        key = full_name(function) if name is None else name
        cache.set(key, (time_func(), count), expire=expire, tag=tag, retry=True)

        def wait() -> float:
            """Takes a call, or says how long it is until there may be one."""
            with cache.transact(retry=True):
                now = time_func()
                # Without an entry, because it expired or was deleted, the count begins anew.
                last, left = cache.get(key, (now, count), retry=True)
                if now < last:
                    # The clock was set back: time is counted from here on.
                    last = now
                    cache.set(key, (last, left), expire=expire, tag=tag, retry=True)
                left = left + (now - last) * rate
                if left < 1:
                    return float((1 - left) / rate)
                cache.set(key, (now, min(left, count) - 1), expire=expire, tag=tag, retry=True)
                return 0.0

        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            while (delay := wait()) > 0:
                sleep_func(delay)
            return function(*args, **kwargs)

        return wrapper

    return decorate


def barrier(
    cache: Any,
    lock_factory: Callable[..., Any],
    name: str | None = None,
    expire: float | None = None,
    tag: Any = None,
) -> Callable[[F], F]:
    """A decorator that calls a function under a lock: `lock_factory` is `Lock`, `RLock` or
    `BoundedSemaphore`."""

    def decorate(function: Any) -> Any:
        key = full_name(function) if name is None else name
        lock = lock_factory(cache, key, expire=expire, tag=tag)

        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with lock:
                return function(*args, **kwargs)

        return wrapper

    return decorate


def memoize_stampede(
    cache: Any,
    expire: float,
    name: str | None = None,
    typed: bool = False,
    tag: Any = None,
    beta: float = 1,
    ignore: Collection[int | str] = (),
) -> Callable[[F], F]:
    """A decorator that stores what a function returns for `expire` seconds, and now and then, the
    more often the nearer the end is and the longer the function takes, computes it again before,
    in a thread, while callers get the old result (Vattani, Chierichetti, Lowenstein: Optimal
    Probabilistic Cache Stampede Prevention, VLDB 2015). A higher `beta` begins earlier.
    """

    def decorate(function: Any) -> Any:
        cache_key = key_maker(cache, function, name, typed, ignore)

        def compute(key: Any, args: Any, kwargs: Any) -> Any:
            start = time.time()
            result = function(*args, **kwargs)
            pair = (result, time.time() - start)
            cache.set(key, pair, expire=expire, tag=tag, retry=True)
            return result

        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            key = cache_key(*args, **kwargs)
            pair, expires = cache.get(key, ENOVAL, expire_time=True, retry=True)
            if pair is ENOVAL:
                return compute(key, args, kwargs)
            result, took = pair
            left = expires - time.time()
            if -took * beta * math.log(random.random()) >= left:
                # One thread of all processes, for as long as the function took.
                begun = (*key, "polycache: computed again")
                if cache.add(begun, None, expire=took, retry=True):
                    threading.Thread(target=compute, args=(key, args, kwargs), daemon=True).start()
            return result

        wrapper.__cache_key__ = cache_key  # type: ignore[attr-defined]
        return wrapper

    return decorate
