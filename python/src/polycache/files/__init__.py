"""Values as files: `Cache.open`, `AsyncCache.open`, and `set` of a file."""

from typing import TYPE_CHECKING, Any

from .opening import open_value
from .storing import store_file
from .writing import TextWriter, ValueWriter

__all__ = ["AsyncFile", "AsyncOpening", "TextWriter", "ValueWriter", "open_value", "store_file"]

if TYPE_CHECKING:
    from .asynchronous import AsyncFile, AsyncOpening
else:

    def __getattr__(name: str) -> Any:
        """Names that load asyncio when they are first used."""
        if name not in ("AsyncFile", "AsyncOpening"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from . import asynchronous

        return getattr(asynchronous, name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
