"""Memoized functions."""

import asyncio
import functools
import inspect
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, assert_type

import pytest
from helpers import answer, python
from tagged import tagged_of

from polycache import AsyncCache, Cache, InvalidArgument, InvalidKey, UnsupportedValue

calls: list[Any] = []


@pytest.fixture(autouse=True)
def no_calls() -> None:
    calls.clear()


def area(width: int, height: int = 2, *, unit: str = "m") -> str:
    """How large it is."""
    calls.append((width, height, unit))
    return f"{width * height} {unit}²"


def total(*numbers: int, **named: int) -> int:
    calls.append((numbers, named))
    return sum(numbers) + sum(named.values())


async def load(number: int) -> dict[str, int]:
    calls.append(number)
    await asyncio.sleep(0)
    return {"number": number}


def test_a_function_runs_once_for_its_arguments(cache: Cache) -> None:
    memoized = cache.memoize()(area)
    assert_type(memoized(2), str)
    for _ in range(2):
        assert memoized(2) == memoized(2, 2) == memoized(width=2, unit="m", height=2) == "4 m²"
    assert memoized(2, 3) == "6 m²"
    assert calls == [(2, 2, "m"), (2, 3, "m")]


def test_arguments_are_told_apart_by_their_type(cache: Cache) -> None:
    @cache.memoize()
    def same(value: Any) -> Any:
        return value

    for value in (1, 1.0, True, "1", b"1", None, [1], {"1": 1}):
        assert tagged_of(same(value)) == tagged_of(same(value)) == tagged_of(value)


def test_any_number_of_arguments(cache: Cache) -> None:
    memoized = cache.memoize()(total)
    assert memoized(1, 2, a=3, b=4) == memoized(1, 2, a=3, b=4) == 10
    assert memoized() == memoized() == 0
    assert memoized(1) == 1
    assert len(calls) == 3
    # The function can see the order.
    assert memoized(1, 2, b=4, a=3) == 10
    assert len(calls) == 4


def test_results_are_forgotten_one_or_all(cache: Cache) -> None:
    cache.set("k", "untouched")
    memoized = cache.memoize()(area)
    memoized(1)
    memoized(2)
    assert memoized.forget(width=1) is True
    assert memoized.forget(1) is False
    memoized(1)
    memoized(2)
    assert [width for width, *_ in calls] == [1, 2, 1]
    memoized.forget_all()
    memoized(2)
    assert len(calls) == 4
    assert cache.get("k") == "untouched"


def test_the_signature_is_kept(cache: Cache) -> None:
    memoized = cache.memoize(ttl="5m")(area)
    assert inspect.signature(memoized) == inspect.signature(area)
    assert (memoized.__name__, memoized.__doc__) == ("area", area.__doc__)  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        memoized()  # type: ignore[call-arg]
    assert inspect.iscoroutinefunction(cache.memoize()(load))


def test_arguments_and_results_are_values(cache: Cache) -> None:
    with pytest.raises(UnsupportedValue) as refusal:
        cache.memoize()(total)(1, object())  # type: ignore[arg-type]
    assert refusal.value.path == "$[0][1]"
    assert calls == []


def test_the_time_to_live(directory: Path, clock: Any) -> None:
    with Cache(directory, limit="4MiB", clock=clock) as cache:
        memoized = cache.memoize(ttl="1s")(area)
        memoized(1)
        clock.now += 999
        memoized(1)
        clock.now += 1
        memoized(1)
        assert len(calls) == 2
        with pytest.raises(InvalidArgument):
            cache.memoize(ttl="soon")(area)(1)


async def test_an_asynchronous_function(cache: Cache) -> None:
    memoized = cache.memoize()(load)
    results = await asyncio.gather(*[memoized(1) for _ in range(10)])
    assert results == [{"number": 1}] * 10
    assert calls == [1]
    assert memoized.forget(1) is True
    awaited = AsyncCache.over(cache).memoize()(load)
    results = await asyncio.gather(*[awaited(1) for _ in range(10)])
    assert results == [{"number": 1}] * 10
    assert calls == [1, 1]
    assert await awaited.forget(1) is True and await awaited.forget(number=1) is False
    await awaited(1)
    await awaited.forget_all()
    await awaited(1)
    assert calls == [1] * 4


def test_functions_that_share_a_name_need_another(cache: Cache) -> None:
    def made(factor: int) -> Any:
        def times(number: int) -> int:
            return factor * number

        return times

    for nameless in (made(2), lambda number: number):
        with pytest.raises(InvalidArgument, match="name="):
            cache.memoize()(nameless)
    double = cache.memoize(name="double")(made(2))
    triple = cache.memoize(name="triple")(made(3))
    assert (double(5), triple(5), double(5)) == (10, 15, 10)


def test_a_key_of_one_s_own(cache: Cache) -> None:
    @cache.memoize(key=lambda user: f"user:{user.number}")
    def load_user(user: Any) -> dict[str, Any]:
        calls.append(user.number)
        return {"number": user.number}

    class User:
        def __init__(self, number: int) -> None:
            self.number = number

    assert load_user(User(1)) == load_user(User(1)) == {"number": 1} and calls == [1]
    # It is a key of this very namespace.
    assert cache.get("user:1") == {"number": 1}
    cache.delete("user:1")
    load_user(User(1))
    assert calls == [1, 1] and load_user.forget(User(1)) and not load_user.forget(User(1))
    cache.set("k", "untouched")
    with pytest.raises(InvalidArgument, match="name="):
        load_user.forget_all()
    assert cache.get("k") == "untouched"


def test_a_key_of_one_s_own_in_a_namespace_of_its_own(cache: Cache) -> None:
    memoized = cache.memoize(key=lambda number: str(number % 2), name="parity")(
        lambda number: number % 2
    )
    assert [memoized(number) for number in (1, 2, 3)] == [1, 0, 1]
    assert sorted(cache.namespace("parity").keys()) == ["0", "1"] and not list(cache.keys())
    memoized.forget_all()
    assert not list(cache.namespace("parity").keys())
    wrong: Any = lambda number: number  # noqa: E731
    with pytest.raises(InvalidKey):
        cache.memoize(key=wrong)(area)(1)


async def test_a_key_of_one_s_own_for_asyncio(cache: Cache) -> None:
    memoized = AsyncCache.over(cache).memoize(key=lambda number: f"number:{number}", ttl="1h")(load)
    assert await asyncio.gather(*[memoized(1) for _ in range(5)]) == [{"number": 1}] * 5
    assert calls == [1] and "number:1" in cache


PROGRAM = """
import sys, polycache
cache = polycache.Cache(sys.argv[1])

@cache.memoize()
def number():
    return sys.argv[2]

if __name__ == "__main__":
    print(number(), flush=True)
"""


def test_a_program_s_own_functions_are_told_apart_by_its_file(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    for file, argument in [("a.py", "a"), ("b.py", "b"), ("a.py", "again")]:
        (tmp_path / file).write_text(PROGRAM)
        monkeypatch.setattr("sys.argv", [file, str(cache.path), argument])
        runpy.run_path(str(tmp_path / file), run_name="__main__")
    assert capsys.readouterr().out.split() == ["a", "b", "a"]
    # Without a file there is no name.
    with python(PROGRAM.replace("print", "pass #"), cache.path, "c") as process:
        assert answer(process) == ""
        assert process.wait(60) == 1


class Client:
    def __init__(self, host: str) -> None:
        self.host = host

    def user(self, number: int) -> str:
        return f"{self.host}/{number}"

    @classmethod
    def made(cls, number: int) -> str:
        return f"{cls.__name__}/{number}"


def base(number: int) -> int:
    return number


def times(factor: int) -> Callable[[Callable[[int], int]], Callable[[int], int]]:
    def decorate(function: Callable[[int], int]) -> Callable[[int], int]:
        @functools.wraps(function)
        def wrapper(number: int) -> int:
            return function(number) * factor

        return wrapper

    return decorate


def plain(function: Callable[[int], int]) -> Callable[[int], int]:
    @functools.wraps(function)
    def wrapper(number: int) -> int:
        return function(number)

    return wrapper


@pytest.mark.parametrize(
    "function", [Client("a").user, Client.made, times(2)(base)], ids=["method", "class", "wrapper"]
)
def test_what_its_name_does_not_say_needs_a_name(
    cache: Cache, function: Callable[[int], object]
) -> None:
    with pytest.raises(InvalidArgument, match="give it one"):
        cache.memoize()(function)
    assert cache.memoize(name="given")(function)(1) == function(1)


def test_a_wrapper_that_captures_only_what_it_wraps_has_its_name(cache: Cache) -> None:
    assert cache.memoize()(plain(base))(3) == 3
