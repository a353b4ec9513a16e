"""How keys and values are written: diskcache's `Disk`, which programs may subclass."""

import io
import json
import os
import shutil
import tempfile
import zlib
from typing import Any, BinaryIO, cast

from ..errors import MalformedEntry
from .constants import (
    MODE_BINARY,
    MODE_PICKLE,
    MODE_RAW,
    MODE_TEXT,
    MODE_TYPED,
    UNKNOWN,
)
from .errors import PickleNeeded
from .keys import LEAST, MOST, compound_code, key_of, raw_code
from .pickling import Pickling, dumps, loads, refused

Stored = tuple[int, int, None, Any]
"""Bytes that diskcache would have put into a file, the mode, no file, the value to store."""


class Disk:
    """Turns keys and values into what is stored, and back.

    A subclass may override `put`, `get`, `store` and `fetch`, and call these with text, bytes and
    numbers of its own making. No value has a file of its own, so there is no `filename` and no
    `remove`; the third part of `store`'s result is None.
    """

    pickling: Pickling | None = None
    """Set by the cache when pickle was asked for."""

    def __init__(self, directory: str, min_file_size: int = 0, pickle_protocol: int = 0) -> None:
        self._directory = directory
        self.min_file_size = min_file_size
        self.pickle_protocol = pickle_protocol

    def hash(self, key: Any) -> int:
        """A number of 32 bits that is the same for equal keys, in every process."""
        stored, raw = self.put(key)
        code = raw_code(stored) if raw else stored
        return zlib.adler32(cast(bytes, code))

    def put(self, key: Any) -> tuple[Any, bool]:
        """What is stored for a key, and True when that is the key itself.

        Raises `PickleNeeded` for a key that is not in the type map, if pickle was not asked for.
        """
        kind = type(key)
        if kind is str or kind is bytes or kind is float or (kind is int and LEAST <= key <= MOST):
            return key, True
        try:
            return compound_code(key), False
        except PickleNeeded:
            if self.pickling is None:
                raise
        return b"p" + dumps(key, self.pickle_protocol, optimize=True), False

    def get(self, key: Any, raw: bool) -> Any:
        """The key of what `put` made of it."""
        if raw:
            return key
        if key[:1] == b"p":
            if self.pickling is None:
                raise refused("the key was pickled")
            return loads(key[1:])
        return key_of(key)

    def store(self, value: Any, read: bool, key: Any = UNKNOWN) -> Stored:
        """What is stored for a value, or for what can be `read` from a file."""
        kind = type(value)
        least = self.min_file_size
        if kind is bytes:
            size = len(value)
            return (0, MODE_RAW, None, value) if size < least else (size, MODE_BINARY, None, value)
        if kind is str:
            if len(value) < least:
                return 0, MODE_RAW, None, value
            return len(value.encode()), MODE_TEXT, None, value
        if kind is float or (kind is int and LEAST <= value <= MOST):
            return 0, MODE_RAW, None, value
        if read:
            data = read_all(value)
            return len(data), MODE_BINARY, None, data
        if self.pickling is None or value is None or kind is bool:
            return 0, MODE_TYPED, None, value
        data = dumps(value, self.pickle_protocol)
        return 0 if len(data) < least else len(data), MODE_PICKLE, None, data

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        """The value of what `store` made of it; a file to read from for `read`, if `store` says
        that it is binary."""
        if mode == MODE_BINARY:
            return as_file(value) if read else value
        if mode == MODE_PICKLE:
            if self.pickling is None:
                raise refused("the value was pickled")
            return loads(value)
        return value


class JSONDisk(Disk):
    """Keys and values as JSON, compressed by zlib. Tuples come back as lists."""

    def __init__(self, directory: str, compress_level: int = 1, **kwargs: Any) -> None:
        self.compress_level = compress_level
        super().__init__(directory, **kwargs)

    def put(self, key: Any) -> tuple[Any, bool]:
        """See `Disk.put`."""
        return super().put(self._packed(key))

    def get(self, key: Any, raw: bool) -> Any:
        """See `Disk.get`."""
        return _unpacked(super().get(key, raw))

    def store(self, value: Any, read: bool, key: Any = UNKNOWN) -> Stored:
        """See `Disk.store`."""
        return super().store(value if read else self._packed(value), read, key=key)

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        """See `Disk.fetch`."""
        data = super().fetch(mode, filename, value, read)
        return data if read else _unpacked(data)

    def _packed(self, value: Any) -> bytes:
        return zlib.compress(json.dumps(value).encode(), self.compress_level)


def _unpacked(data: Any) -> Any:
    try:
        return json.loads(zlib.decompress(data))
    except (TypeError, zlib.error, ValueError) as error:
        raise MalformedEntry(f"not written by JSONDisk: {error}") from None


def read_all(file: Any) -> bytes:
    """What can be read of a file. The host tier takes a value as a whole, so it is in memory, but
    once: a list of pieces would be there beside what they are joined to."""
    data = io.BytesIO()
    shutil.copyfileobj(file, data, 2**22)
    return data.getvalue()  # Shares the bytes.


def as_file(data: bytes) -> BinaryIO:
    """An open file of these bytes, with a descriptor, that no folder lists."""
    if not hasattr(os, "memfd_create"):
        other = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
        other.write(data)
        other.seek(0)
        return cast(BinaryIO, other)
    handle = os.memfd_create("polycache")
    with open(handle, "wb", closefd=False) as file:
        file.write(data)
    os.lseek(handle, 0, os.SEEK_SET)
    return open(handle, "rb")
