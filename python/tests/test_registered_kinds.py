"""The kinds of classes that need no functions to be registered."""

import dataclasses
from enum import Enum, IntEnum, IntFlag, StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import pydantic
import pytest

from polycache import Cache, InvalidArgument, Named, Type, UnsupportedValue, WrongType


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Slotted:
    a: int
    b: str = "b"


@dataclasses.dataclass
class Derived:
    """With a field that is computed."""

    a: int
    double: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.double = 2 * self.a


@attrs.define
class Attrs:
    a: int
    _hidden: list[int] = attrs.field(factory=list)
    double: int = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.double = 2 * self.a


@attrs.frozen
class Renamed:
    a: int = attrs.field(alias="other")


class Pair(NamedTuple):
    left: Any
    right: Any = 7


class Model(pydantic.BaseModel):
    a: int
    b: str = pydantic.Field(default="b", alias="bee")
    inner: "Model | None" = None


class Colour(Enum):
    RED = 1
    MIXED = (1, 2)


class Number(IntEnum):
    ONE = 1


class Word(StrEnum):
    HELLO = "hello"


class Rights(IntFlag):
    READ = 1
    WRITE = 2


# What is registered, an instance, and what is written of it.
KINDS: dict[str, tuple[Any, Any]] = {
    "slotted dataclass": (Slotted(a=1), {"a": 1, "b": "b"}),
    "dataclass with a computed field": (Derived(2), {"a": 2}),
    "attrs": (Attrs(1, [2]), {"a": 1, "hidden": [2]}),
    "attrs with an alias": (Renamed(1), {"other": 1}),
    "named tuple": (Pair(1, [2]), {"left": 1, "right": [2]}),
    "pydantic": (
        Model(a=1, bee="c", inner=Model(a=2)),
        {
            "a": 1,
            "bee": "c",
            "inner": {"a": 2, "bee": "b", "inner": None},
        },
    ),
    "enum": (Colour.RED, 1),
    "enum of a tuple": (Colour.MIXED, [1, 2]),
    "IntEnum": (Number.ONE, 1),
    "StrEnum": (Word.HELLO, "hello"),
    "flags": (Rights.READ | Rights.WRITE, 3),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_written_so_and_comes_back(kind: str, directory: Path) -> None:
    value, written = KINDS[kind]
    types = {"it": type(value)}
    with Cache(directory, limit="4MiB", types=types) as cache, Cache(types=types) as alone:
        for one in (cache, alone):
            one.set("k", [value])
            (read,) = one.get("k")
            assert read == value and type(read) is type(value)
            assert one.get_or_set("l", lambda: value) == value
            one.set("k", {"deep": value})
            assert one.get("k") == {"deep": value}
        with Cache(directory) as other:
            assert other.get("k") == {"deep": Named("it", written)}
            assert typed(other.get("k")["deep"].value) == typed(written)


def typed(value: Any) -> Any:
    if isinstance(value, dict):
        return [(key, typed(part)) for key, part in value.items()]
    return type(value)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if isinstance(KINDS[kind][1], dict)])
def test_fields_come_and_go(kind: str) -> None:
    value, written = KINDS[kind]
    with Cache(types={"it": type(value)}) as cache:
        cache.set("k", Named("it", {**written, "gone": 1}))
        assert cache.get("k") == value


def test_new_fields_take_their_defaults() -> None:
    types = {"slotted": Slotted, "attrs": Attrs, "pair": Pair, "model": Model}
    with Cache(types=types) as cache:
        cache.set("k", [Named(name, {"a": 1}) for name in ("slotted", "attrs", "model")])
        assert cache.get("k") == [Slotted(a=1), Attrs(1), Model(a=1)]
        cache.set("k", Named("pair", {"left": 1}))
        assert cache.get("k") == Pair(1, 7)
        for name in types:
            cache.set("k", {"it": Named(name, {})})
            with pytest.raises(WrongType) as error:
                cache.get("k")
            assert error.value.path == "$.it" and error.value.__cause__ is not None


@pytest.mark.parametrize("cls", [Slotted, Attrs, Pair, Model, Colour])
def test_a_value_of_another_shape_is_a_wrong_type(cls: Any) -> None:
    with Cache(types={"it": cls}) as cache:
        for other in (["a", 1], "text", 1.5, None):
            cache.set("k", Named("it", other))
            with pytest.raises(WrongType):
                cache.get("k")


def test_fields_of_registered_classes_are_written_under_their_names(directory: Path) -> None:
    types = {"slotted": Slotted, "pair": Pair, "attrs": Attrs, "word": Word}
    value = Pair(Attrs(1, [Slotted(a=1, b=Word.HELLO)]), {"p": Pair(1)})  # type: ignore[list-item]
    with Cache(directory, limit="4MiB", types=types) as cache:
        cache.set("k", value)
        assert cache.get("k") == value
        assert type(cache.get("k").left._hidden[0].b) is Word
    with Cache(directory) as cache:
        hidden = [Named("slotted", {"a": 1, "b": Named("word", "hello")})]
        left = Named("attrs", {"a": 1, "hidden": hidden})
        right = {"p": Named("pair", {"left": 1, "right": 7})}
        assert cache.get("k") == Named("pair", {"left": left, "right": right})


def test_a_named_tuple_that_is_not_registered_stays_refused() -> None:
    with Cache(types={"number": Number}) as cache:
        for value in (Pair(1), Colour.RED, Word.HELLO):
            with pytest.raises(UnsupportedValue):
                cache.set("k", value)


@dataclasses.dataclass
class Passing:
    a: int
    b: dataclasses.InitVar[int]


@dataclasses.dataclass
class PassingByDefault:
    a: int
    b: dataclasses.InitVar[int] = 1


def test_a_dataclass_that_needs_more_than_its_fields_is_refused_when_the_cache_is_opened() -> None:
    with pytest.raises(InvalidArgument, match="'b'"):
        Cache(types={"passing": Passing})
    given = Type(Passing, encode=lambda one: one.a, decode=lambda a: Passing(a, 1))
    for one, value in ((given, Passing(1, 1)), (PassingByDefault, PassingByDefault(1))):
        cache = Cache(types={"passing": one})
        cache.set("k", value)
        assert cache.get("k") == value


class Odd(type):
    """Its classes are equal to every other, and have no hash."""

    def __eq__(cls, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class First(metaclass=Odd):
    pass


class Second(metaclass=Odd):
    pass


def test_a_class_is_known_by_itself_and_not_by_what_its_metaclass_says() -> None:
    types: dict[str, Type[Any]] = {
        "first": Type(First, encode=lambda _: None, decode=lambda _: First()),
        "second": Type(Second, encode=lambda _: None, decode=lambda _: Second()),
    }
    cache = Cache(types=types)
    cache.set("k", [First(), Second()])
    assert [type(one).__name__ for one in cache.get("k")] == ["First", "Second"]
    with pytest.raises(InvalidArgument, match="two names"):
        Cache(types={**types, "again": types["first"]})
