"""NumPy's arrays and scalars as registered types."""

from math import prod
from typing import Any

from ..registered_types import Type
from .dtypes import bools, dtype_of, layout_of
from .library import library

_PLAIN = {
    "numpy.bool": "bool",
    "numpy.int8": "int8",
    "numpy.int16": "int16",
    "numpy.int32": "int32",
    "numpy.int64": "int64",
    "numpy.uint8": "uint8",
    "numpy.uint16": "uint16",
    "numpy.uint32": "uint32",
    "numpy.uint64": "uint64",
    "numpy.float16": "float16",
    "numpy.float32": "float32",
    "numpy.float64": "float64",
}
"""Scalars that are a bool, an int or a float in every language: their names and dtypes."""

_AS_ARRAYS = {
    "numpy.complex64": "complex64",
    "numpy.complex128": "complex128",
    "numpy.datetime64": "datetime64",
    "numpy.timedelta64": "timedelta64",
}
"""Scalars that are written as arrays without dimensions."""


def numpy_types() -> dict[str, Type[Any]]:
    """Registered types for `numpy.ndarray` and NumPy's scalars, for the option `types`.

    Arrays have numbers, bools, complex numbers, times, text or bytes of a fixed length, or records
    of these. An array of objects is `UnsupportedValue`, for it would need pickle; so are `float128`
    and its like, whose bytes depend on the processor, and subclasses of `ndarray`, which would come
    back as arrays. `encode` copies the data once. An array that is read lies over the bytes that
    were read and cannot be written: `array.copy()` can. It is in Fortran order if it was, and
    otherwise in C order. Bytes that are no such array are `WrongType`.

    A scalar that is a bool, an int or a float is written as that; a complex number or a time, as an
    array without dimensions.

    Raises `ImportError` without the package numpy.
    """
    np = library("numpy", "numpy")

    def decode(value: Any) -> Any:
        return _array(np, value)

    types: dict[str, Type[Any]] = {"numpy.ndarray": Type(np.ndarray, encode=_layout, decode=decode)}
    for name, dtype in _PLAIN.items():
        types[name] = _plain(np, dtype)
    for name, dtype in _AS_ARRAYS.items():
        types[name] = _as_array(np, dtype)
    return types


def _layout(array: Any) -> dict[str, Any]:
    dtype = layout_of(array.dtype)
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    order = "F" if fortran else "C"
    return {
        "dtype": dtype,
        "shape": list(array.shape),
        "order": order,
        # Bytes themselves: the native extension borrows them, and copies a memoryview twice.
        "data": array.tobytes(order),
    }


def _array(np: Any, value: Any) -> Any:
    """Raises ordinary errors, which the reader gets as the cause of a `WrongType`."""
    if not isinstance(value, dict):
        raise TypeError(f"an array is a dict, not {value!r:.60}")
    shape, order, data = value["shape"], value["order"], value["data"]
    if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"a shape is a list of lengths, not {shape!r:.60}")
    if order not in ("C", "F"):
        raise ValueError(f'an order is "C" or "F", not {order!r:.60}')
    if not isinstance(data, bytes):
        raise TypeError(f"an array's data is bytes, not {type(data).__name__}")
    dtype = dtype_of(np, value["dtype"])
    expected = prod(shape) * dtype.itemsize
    if len(data) != expected:
        raise ValueError(f"an array of this shape and dtype has {expected} bytes, not {len(data)}")
    array = np.ndarray(shape, dtype, data, order=order)
    for part in bools(array):
        # NumPy counts and selects by these bytes without looking at them again.
        if part.size and part.view("u1").max() > 1:
            raise ValueError("a bool is 0 or 1")
    return array


def _plain(np: Any, dtype: str) -> Type[Any]:
    cls = np.dtype(dtype).type
    wanted = {"b": (bool,), "f": (float, int)}.get(np.dtype(dtype).kind, (int,))

    def decode(value: Any) -> Any:
        if type(value) not in wanted:
            raise TypeError(f"{dtype} is made of {wanted[0].__name__}, not {value!r:.60}")
        if wanted == (int,) and not np.iinfo(cls).min <= value <= np.iinfo(cls).max:
            raise ValueError(f"{value!r:.60} is out of range for {dtype}")
        return cls(value)

    return Type(cls, encode=lambda scalar: scalar.item(), decode=decode)


def _as_array(np: Any, dtype: str) -> Type[Any]:
    cls = np.dtype(dtype).type

    def decode(value: Any) -> Any:
        scalar = _array(np, value)[()]
        if type(scalar) is not cls:
            raise TypeError(f"this is not a {dtype}")
        return scalar

    return Type(cls, encode=lambda scalar: _layout(np.asarray(scalar)), decode=decode)
