"""Values as they come back: numbers and texts without the subclasses that programs hand over, and
what the host store keeps of the type map."""

import math
from numbers import Integral, Real
from typing import Any

from ..errors import InvalidArgument
from .pickling import refused

CHANGED = (frozenset, bytearray, memoryview)
"""The host store takes them, and gives a set or bytes back. (So it does with tuples, of which every
program has some: they become lists.)"""


def plain_tag(tag: Any) -> Any:
    """A tag: text, bytes, a number or None."""
    if tag is None:
        return None
    if isinstance(tag, str):
        # Not str(tag): that of an enumeration is its name.
        return str.__str__(tag)
    if isinstance(tag, bytes):
        return bytes(tag)
    if isinstance(tag, int | float):
        return plain_number(tag)
    raise InvalidArgument(f"a tag is text, bytes, a number or None, not {tag!r:.60}")


def plain_number(value: Any) -> int | float:
    """A number, of NumPy's too, as an int or a float. Raises TypeError."""
    if type(value) is int or type(value) is float:
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    raise TypeError(f"{value!r:.60} is not a number")


def expires_at(now: float, seconds: Any) -> float | None:
    """When what lives for so many seconds expires. Never is None, and what is not a number."""
    if seconds is None:
        return None
    expires = now + plain_number(seconds)
    return None if math.isnan(expires) else expires


def own(value: Any) -> Any:
    """A copy of a value of the type map, as it comes back from the host store, which nobody else
    changes. Raises `PickleNeeded` for what would come back as something else."""
    kind = type(value)
    if kind is list or kind is tuple:
        return [own(part) for part in value]
    if kind is dict:
        return {name: own(part) for name, part in value.items()}
    if kind is set:
        return {own(part) for part in value}
    if kind in CHANGED:
        raise refused(f"a {kind.__name__} is not in the type map, and would come back as another")
    return value
