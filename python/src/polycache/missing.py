"""Stands for "nothing was found" and "nothing was given" where None is a value."""

from enum import Enum
from typing import Final


class Missing(Enum):
    """The class of `MISSING`; an enumeration, so that type checkers narrow by `is`."""

    MISSING = "MISSING"

    def __repr__(self) -> str:
        return "polycache.MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing.MISSING
