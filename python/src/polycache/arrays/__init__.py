"""NumPy arrays and Arrow tables as values: registered types for the option `types` of a cache.

    from polycache import arrays

    cache = polycache.Cache(".cache", types=arrays.numpy_types() | arrays.arrow_types())
    cache.set("embedding", numpy.zeros(768))

The data is written as one value of bytes, without pickle, and copied once. What is read lies over
the bytes that were read, without another copy, so it is read-only. Neither library is imported
before its function is called. Programs in other languages read a `Named`, whose layout is in
`spec/entry.md`.
"""

from .arrow import arrow_types
from .numpy import numpy_types

__all__ = ["arrow_types", "numpy_types"]
