"""Remembers what a function returned, for every process of the machine, for a while."""

import functools
import json
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import polycache

P = ParamSpec("P")
R = TypeVar("R")


def memoize(
    cache: polycache.Cache, ttl: polycache.Duration
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        answers = cache.namespace(function.__name__)

        @functools.wraps(function)
        def remembering(*args: P.args, **kwargs: P.kwargs) -> R:
            key = json.dumps([args, kwargs], sort_keys=True)
            return answers.get_or_set(key, lambda: function(*args, **kwargs), ttl=ttl)

        return remembering

    return decorate


cache = polycache.Cache(".cache", namespace=["examples", "memoize.py"])
cache.clear()
calls = 0


@memoize(cache, ttl="1h")
def distance(start: str, end: str, *, unit: str = "km") -> float:
    global calls
    calls += 1
    return len(start) * len(end) * (1.0 if unit == "km" else 0.621)


print(distance("Oslo", "Rome"), distance("Oslo", "Rome"), distance("Oslo", "Rome", unit="mi"))
print(f"{calls} calls for 3 questions")
assert calls == 2
