"""What users of functools.lru_cache rely on, after changing the import."""

from typing import Any

import pytest

import polycache
from polycache import InvalidArgument, MemoryCache, cached, cached_method
from polycache.functools import cache, lru_cache


def test_a_bare_decorator() -> None:
    calls: list[int] = []

    @cached
    def square(number: int) -> int:
        """Squares."""
        calls.append(number)
        return number * number

    assert [square(2), square(2), square(3)] == [4, 4, 9] and calls == [2, 3]
    assert square.__doc__ == "Squares." and square.cache.max_entries == 10_000
    assert square.cache_info() == (1, 2, 10_000, 2)
    square.cache_clear()
    assert square.cache_info() == (0, 0, 10_000, 0)
    assert square(2) == 4 and square.cache_info() == (0, 1, 10_000, 1)
    assert square.cache_parameters() == {"maxsize": 10_000, "typed": True}


def test_bare_decorators_of_methods_and_caches(directory: Any) -> None:
    class Squares:
        @cached_method
        def square(self, number: int) -> int:
            return number * number

    assert Squares().square(3) == 9
    memory: MemoryCache[Any, Any] = MemoryCache()

    @memory.memoize
    def one() -> int:
        return 1

    assert one() == 1 == len(memory)
    with polycache.Cache(directory) as disk:

        @disk.memoize
        def two() -> int:
            return 2

        assert two() == 2 == two()
        assert two.forget()


def test_any_number_of_results() -> None:
    @cached(None)
    def same(number: int) -> int:
        return number

    for number in range(20_000):
        same(number)
    assert same.cache_info() == (0, 20_000, None, 20_000)


@pytest.mark.parametrize("decorate", [cached(0), lru_cache(0), lru_cache(maxsize=-1)])
def test_no_results(decorate: Any) -> None:
    same = decorate(lambda number: number)

    assert [same(1), same(1)] == [1, 1]
    assert same.cache_info() == (0, 2, 0, 0)


def test_keys_of_ones_own() -> None:
    @cached(10, key=lambda user: user["id"])
    def name(user: dict[str, Any]) -> str:
        return str(user["name"])

    assert name({"id": 1, "name": "Ada"}) == "Ada" == name({"id": 1, "name": "Bea"})
    assert name({"id": 2, "name": "Cid"}) == "Cid"
    assert 1 in name.cache
    assert name.forget({"id": 1}) and not name.forget({"id": 1})
    name.forget_all()
    assert not name.cache


def test_types_of_arguments() -> None:
    @lru_cache
    def same(value: Any) -> Any:
        return value

    assert same(1) == 1 and same(1.0) is same(True) is same(1)

    @lru_cache(typed=True)
    def typed(value: Any) -> Any:
        return value

    assert [type(typed(value)) for value in (1, 1.0, True)] == [int, float, bool]

    @cached(typed=False)
    def named(**values: Any) -> Any:
        return values["a"]

    assert named(a=1, b=2) is named(a=1.0, b=2)


def test_a_function_that_sees_the_order_of_named_arguments_is_given_its_own_results() -> None:
    @cached
    def names(*args: Any, **kwargs: Any) -> list[str]:
        return list(kwargs)

    assert names(1, a=1, b=2) == ["a", "b"]
    assert names(1, b=2, a=1) == ["b", "a"]
    assert names.cache_info()[:2] == (0, 2)


def test_the_order_of_parameters_does_not_matter() -> None:
    calls: list[Any] = []

    @cached
    def function(a: int, *, b: int, c: int = 3, **more: int) -> None:
        calls.append((a, b, c))

    function(1, b=2, d=4)
    function(d=4, b=2, a=1)
    function(c=3, d=4, a=1, b=2)
    assert calls == [(1, 2, 3)]


def test_recursion() -> None:
    @cache
    def fibonacci(number: int) -> int:
        return number if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)

    assert fibonacci(30) == 832_040
    assert fibonacci.cache_info() == (28, 31, None, 31)

    seen: list[int] = []

    @cached
    def again(number: int) -> int:
        seen.append(number)
        return again(number) + 1 if len(seen) < 3 else 0

    assert again(1) == 2 == again(1) and len(seen) == 3


async def test_recursion_of_coroutines() -> None:
    seen: list[int] = []

    @cached
    async def again(number: int) -> int:
        seen.append(number)
        return await again(number) + 1 if len(seen) < 3 else 0

    assert await again(1) == 2 == await again(1) and len(seen) == 3


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError):
        lru_cache("large")  # type: ignore[call-overload]
    with pytest.raises(InvalidArgument, match="not an option"):
        cached(max_size=5)(lambda: 1)  # type: ignore[call-overload]
    # mypy finds it, too: otherwise the ignore comment would be unused.
    with pytest.raises(InvalidArgument, match="max_size is not an option"):
        MemoryCache(max_size=5)  # type: ignore[call-arg]
    for size in (-1, 1.5, True, "10"):
        with pytest.raises(InvalidArgument, match="max_entries"):
            MemoryCache(size)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="maxsize is a whole number"):
        lru_cache(2**24 + 1)(lambda: 1)


def test_results_are_the_objects_themselves() -> None:
    @lru_cache
    def made(number: int) -> list[int]:
        return [number]

    @cache
    def kept(number: int) -> list[int]:
        return [number]

    for function in (made, kept):
        assert function(1) is function(1)

    # `cached` hands out copies, unless it is told not to.
    copied, itself = cached(lambda: [1]), cached(isolation="none")(lambda: [1])
    assert copied() == copied() is not copied()
    assert itself() is itself()
