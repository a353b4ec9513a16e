"""Values as a database would keep them: without the subclasses that programs hand over."""

import math
from numbers import Integral, Real
from typing import Any

from ..errors import InvalidArgument


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
