"""Content codings (RFC 9110 8.4.1) that this installation can make."""

import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any

KNOWN = ("zstd", "br", "gzip")
"""Best first: Zstandard costs least of those that make small bodies."""


def gzip(content: bytes) -> bytes:
    """The same bytes every time: with neither a time nor a name (RFC 1952)."""
    maker = zlib.compressobj(6, zlib.DEFLATED, 31)
    return maker.compress(content) + maker.flush()


def _installed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None


def _zstd() -> Callable[[bytes], bytes] | None:
    try:
        from compression.zstd import compress  # type: ignore[import-not-found, unused-ignore]

        standard: Callable[[bytes], bytes] = compress
        return standard
    except ImportError:
        pass
    library = _installed("zstandard")
    if library is None:
        return None
    # A compressor is for one thread at a time.
    return lambda content: bytes(library.ZstdCompressor(level=3).compress(content))


def _br() -> Callable[[bytes], bytes] | None:
    library = _installed("brotli")
    if library is None:
        return None
    return lambda content: bytes(library.compress(content, quality=5))


_MADE = {"zstd": _zstd(), "br": _br(), "gzip": gzip}
CODINGS = tuple(name for name in KNOWN if _MADE[name] is not None)
"""The codings that can be made here, best first: br with the package brotli, zstd with Python 3.14
or the package zstandard."""


def compress(content: bytes, coding: str) -> bytes:
    maker = _MADE[coding]
    assert maker is not None, coding
    return maker(content)
