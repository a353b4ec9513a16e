"""What the function of an `update` may return instead of a value."""

from enum import Enum
from typing import Final


class Update(Enum):
    """The class of `DELETE` and `LEAVE`; an enumeration, so that type checkers narrow by `is`."""

    DELETE = "DELETE"
    LEAVE = "LEAVE"

    def __repr__(self) -> str:
        return f"polycache.{self.name}"


DELETE: Final = Update.DELETE
"""Deletes the key."""

LEAVE: Final = Update.LEAVE
"""Leaves the key as it is."""
