"""Types that a program registers by name: the option `types` of a cache."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from inspect import Parameter, signature
from typing import Any, Generic, NamedTuple, TypeVar

from .errors import InvalidArgument

T = TypeVar("T")
Encode = Callable[[Any], Any]
Decode = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Type(Generic[T]):
    """A class for the option `types`, with how its instances become values and come back.

        Cache(path, types={"point": Type(Point, encode=Point.to_list, decode=Point.from_list)})

    `encode` is given an instance, and returns any value of the type map, which may hold instances
    of other registered classes. `decode` is given such a value, of its own to keep, and returns
    what the reader gets. Both may use the cache. What `encode` raises is the cause of an
    `UnsupportedValue`, what `decode` raises is that of a `WrongType`.

    Without the two it is as the class itself:

    - a dataclass or an attrs class is a dict of the fields that its constructor takes, by their
      names there, and made by its constructor;
    - a named tuple is a dict of its fields;
    - an enum is the value of its member;
    - a pydantic model is what `model_dump(by_alias=True, round_trip=True)` returns, and made by
      `model_validate`. Models in it are part of that dict. Where the aliases for validation and for
      serialization differ, `model_validate` has to take the ones that `model_dump` writes: let the
      model accept both, or give functions.

    Fields that the class no longer has are passed over when a value is read, and those that it has
    since gained take their defaults. (A pydantic model may be configured to forbid the former.)
    """

    cls: type[T]
    _: dataclasses.KW_ONLY
    encode: Callable[[T], Any] | None = None
    decode: Callable[[Any], T] | None = None


class Registered(NamedTuple):
    """What the native extension is given."""

    name: str
    cls: type
    encode: Encode
    decode: Decode


MOST_BYTES = 255
"""Of a name, in UTF-8."""


def _of_the_type_map() -> set[type]:
    # Imported when a program registers types, not by every one.
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

    from ._native import Named

    plain = {type(None), bool, int, float, str, bytes, bytearray, memoryview}
    return plain | {list, tuple, dict, set, frozenset, datetime, Decimal, UUID, Named}


def registered(types: Any) -> list[Registered]:
    """The option, checked; called by the native extension. Raises `InvalidArgument`."""
    if not isinstance(types, Mapping):
        raise InvalidArgument(f"types is a mapping of names to classes, not {types!r:.60}")
    # By their addresses: a metaclass may say that classes are equal, or have no hash.
    found: dict[int, Registered] = {}
    for name, given in types.items():
        one = _registered(_checked(name), given)
        if (other := found.get(id(one.cls))) is not None:
            raise InvalidArgument(
                f"types: {one.cls.__qualname__} has two names, {other.name!r} and {name!r}"
            )
        found[id(one.cls)] = one
    return list(found.values())


def _checked(name: Any) -> str:
    if isinstance(name, str):
        try:
            if 1 <= len(name.encode()) <= MOST_BYTES:
                return str(name)
        except UnicodeEncodeError:
            pass
    raise InvalidArgument(f"types: a name is text of 1 to {MOST_BYTES} bytes, not {name!r:.60}")


def _registered(name: str, given: Any) -> Registered:
    one = given if isinstance(given, Type) else Type(given)
    where = f"types[{name!r:.60}]"
    if not isinstance(one.cls, type):
        raise InvalidArgument(f"{where} is a class or a polycache.Type of one, not {one.cls!r:.60}")
    if any(one.cls is known for known in _of_the_type_map()):
        raise InvalidArgument(f"{where}: {one.cls.__qualname__} needs no name: the type map has it")
    if (one.encode is None) != (one.decode is None):
        raise InvalidArgument(f"{where}: give both encode and decode, or neither")
    if one.encode is not None and one.decode is not None:
        if not callable(one.encode) or not callable(one.decode):
            raise InvalidArgument(f"{where}: encode and decode are functions")
        return Registered(name, one.cls, one.encode, one.decode)
    known = _known(one.cls)
    if known is not None and (lacking := _lacking(one.cls)):
        raise InvalidArgument(
            f"{where}: the constructor of {one.cls.__qualname__} needs {lacking!r}, which is not "
            "kept: give polycache.Type(cls, encode=..., decode=...)"
        )
    if known is None:
        raise InvalidArgument(
            f"{where}: {one.cls.__qualname__} is not a dataclass, attrs class, named tuple, "
            "pydantic model or enum: give polycache.Type(cls, encode=..., decode=...)"
        )
    return Registered(name, one.cls, *known)


def _known(cls: Any) -> tuple[Encode, Decode] | None:
    """How instances of such a class become values and come back, if its kind is known."""
    if issubclass(cls, Enum):
        return _member_value, _member_of(cls)
    if callable(getattr(cls, "model_dump", None)) and callable(
        getattr(cls, "model_validate", None)
    ):
        return _dumped, cls.model_validate
    if dataclasses.is_dataclass(cls):
        fields = [field.name for field in dataclasses.fields(cls) if field.init]
        return _by_attributes((name, name) for name in fields), _by_constructor(cls, fields)
    if (attributes := getattr(cls, "__attrs_attrs__", None)) is not None:
        named = [(one.name, one.alias) for one in attributes if one.init]
        return _by_attributes(named), _by_constructor(cls, [alias for _, alias in named])
    if issubclass(cls, tuple) and (names := getattr(cls, "_fields", None)) is not None:
        return _by_place(names), _by_constructor(cls, names)
    return None


def _lacking(cls: Any) -> str | None:
    """What a dataclass needs to be made, and does not keep: an `InitVar` without a default."""
    declared = getattr(cls, "__dataclass_fields__", None)
    if declared is None or issubclass(cls, Enum):
        return None
    passing = declared.keys() - {field.name for field in dataclasses.fields(cls)}
    if not passing:
        return None
    for one in signature(cls).parameters.values():
        if one.name in passing and one.default is Parameter.empty:
            return one.name
    return None


def _member_value(member: Enum) -> Any:
    return member.value


def _member_of(cls: type[Enum]) -> Decode:
    def decode(value: Any) -> Any:
        try:
            return cls(value)
        except ValueError:
            # A tuple comes back as a list.
            if not isinstance(value, list):
                raise
            return cls(tuple(value))

    return decode


def _dumped(model: Any) -> Any:
    return model.model_dump(by_alias=True, round_trip=True)


def _by_attributes(named: Iterable[tuple[str, str]]) -> Encode:
    """A dict of attributes, under the names that the constructor has for them."""
    pairs = list(named)

    def encode(value: Any) -> dict[str, Any]:
        return {name: getattr(value, attribute) for attribute, name in pairs}

    return encode


def _by_place(names: tuple[str, ...]) -> Encode:
    def encode(value: tuple[Any, ...]) -> dict[str, Any]:
        return dict(zip(names, value, strict=True))

    return encode


def _by_constructor(cls: Any, names: Iterable[str]) -> Decode:
    known = frozenset(names)

    def decode(value: Any) -> Any:
        if not isinstance(value, dict):
            raise TypeError(
                f"{cls.__qualname__} is made of a dict of its fields, not {value!r:.60}"
            )
        return cls(**{name: part for name, part in value.items() if name in known})

    return decode
