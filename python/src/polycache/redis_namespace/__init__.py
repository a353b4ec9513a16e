"""Redis namespaces: every key, pattern and channel that a client sends gets the prefix
`namespace:`, and what comes back loses it (spec/commands.md).

    shop = namespaced(redis.Redis(), "shop")

Needs no native extension; `namespaced` needs redis-py.
"""

from typing import TYPE_CHECKING, Any

from ..errors import CommandNotAllowed, InvalidArgument, InvalidNamespace, UnknownCommand
from .command_table import Command, CommandTable, Rules
from .namespaces import Namespace, Namespaces
from .prefix import Prefix
from .session import Rewriter, Session

if TYPE_CHECKING:
    from .client import namespaced

__all__ = [
    "Command",
    "CommandNotAllowed",
    "CommandTable",
    "InvalidArgument",
    "InvalidNamespace",
    "Namespace",
    "Namespaces",
    "Prefix",
    "Rewriter",
    "Rules",
    "Session",
    "UnknownCommand",
    "namespaced",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """redis-py is loaded when it is needed."""
        if name != "namespaced":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from .client import namespaced

        globals()[name] = namespaced
        return namespaced
