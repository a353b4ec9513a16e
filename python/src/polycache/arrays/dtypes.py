"""NumPy's dtypes as values of the type map: text, or a dict for records."""

import re
from collections.abc import Iterator
from typing import Any

_TEXT = re.compile(
    r"\|(b1|[iu]1|[SV][1-9][0-9]{0,9})"
    r"|[<>]([iu][248]|f[248]|c(8|16)|U[1-9][0-9]{0,8}|[mM]8(\[([1-9][0-9]{0,8})?[A-Za-z]{1,2}\])?)"
)
"""What `dtype.str` is for the dtypes whose bytes mean the same on every machine."""


def layout_of(dtype: Any) -> str | dict[str, Any]:
    """The dtype as a value. Raises TypeError for one that is not kept."""
    if dtype.metadata:
        raise TypeError(f"the metadata of the dtype {dtype} would be lost")
    if dtype.names is None:
        if not _TEXT.fullmatch(dtype.str):
            raise TypeError(f"arrays of the dtype {dtype} are not kept: {_why_not(dtype)}")
        return str(dtype.str)
    if not dtype.names or not dtype.itemsize:
        raise TypeError(f"records without fields or bytes are not kept: {dtype}")
    formats: list[Any] = []
    offsets: list[int] = []
    for name in dtype.names:
        field, offset, *title = dtype.fields[name]
        if title:
            raise TypeError(f"the title of the field {name!r} would be lost")
        if field.subdtype is None:
            formats.append(layout_of(field))
        else:
            base, shape = field.subdtype
            formats.append([layout_of(base), list(shape)])
        offsets.append(offset)
    if sum(dtype.fields[name][0].itemsize for name in dtype.names) > dtype.itemsize:
        raise TypeError(f"records whose fields overlap are not kept: {dtype}")
    return {
        "names": list(dtype.names),
        "formats": formats,
        "offsets": offsets,
        "itemsize": dtype.itemsize,
    }


def _why_not(dtype: Any) -> str:
    if dtype.hasobject:
        return "objects would need pickle; convert it to numbers, times or text of a fixed length"
    if dtype.kind in "fc":
        return "its bytes depend on the processor; convert it to float64 or complex128"
    return "it has no form that other machines read"


def dtype_of(np: Any, layout: Any) -> Any:
    """The dtype of such a value; raises ordinary errors for anything else."""
    if isinstance(layout, str):
        if not _TEXT.fullmatch(layout):
            raise ValueError(f"{layout!r:.60} is not a dtype that is kept")
        return np.dtype(layout)
    if not isinstance(layout, dict):
        raise TypeError(f"a dtype is text or a dict, not {layout!r:.60}")
    names, formats, offsets = layout["names"], layout["formats"], layout["offsets"]
    itemsize = layout["itemsize"]
    if type(itemsize) is not int or itemsize < 1:
        raise ValueError(f"a record takes at least a byte, not {itemsize!r:.60}")
    if not all(isinstance(one, list) for one in (names, formats, offsets)):
        raise TypeError("the names, formats and offsets of a record are lists")
    if not names or not len(names) == len(formats) == len(offsets):
        raise ValueError("a record has fields, with a name, a format and an offset each")
    if not all(type(offset) is int and offset >= 0 for offset in offsets):
        raise ValueError(f"offsets are numbers from 0, not {offsets!r:.60}")
    formats = [_format(np, one) for one in formats]
    # Or few bytes could have very many fields, which are looked at one by one.
    if sum(one.itemsize for one in formats) > itemsize:
        raise ValueError("the fields of a record overlap")
    # NumPy itself refuses fields that end behind the record, and two of one name.
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": itemsize})


def _format(np: Any, layout: Any) -> Any:
    if not isinstance(layout, list):
        return dtype_of(np, layout)
    base, shape = layout
    return np.dtype((dtype_of(np, base), tuple(shape)))


def bools(array: Any) -> Iterator[Any]:
    """The array itself, or its fields, as far as they are of bools."""
    if array.dtype.names is None:
        if array.dtype.kind == "b":
            yield array
        return
    for name in array.dtype.names:
        yield from bools(array[name])
