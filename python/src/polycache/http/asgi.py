"""A cache before an application of ASGI, such as those of Starlette, FastAPI and Django."""

from .response_cache.asgi import ResponseCache
from .response_cache.settings import ResponseCacheOptions

__all__ = ["ResponseCache", "ResponseCacheOptions"]
