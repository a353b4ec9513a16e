"""Values as files: `Cache.open`, `AsyncCache.open`, and `set` of a file."""

from .asynchronous import AsyncFile, AsyncOpening
from .opening import open_value
from .storing import store_file
from .writing import TextWriter, ValueWriter

__all__ = ["AsyncFile", "AsyncOpening", "TextWriter", "ValueWriter", "open_value", "store_file"]
