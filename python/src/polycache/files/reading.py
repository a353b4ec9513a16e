"""A stored value, to be read as a file: in memory, or in the file that a store keeps it in."""

import io
import os
import struct
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from .. import _native
from ..errors import ChecksumMismatch, WrongType
from ..missing import MISSING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from ..cache import Cache

_BUFFER = 64 * 1024
_LONGEST_HEAD = 5
_HEADS = {
    0xC4: ">B",
    0xC5: ">H",
    0xC6: ">I",
    0xD9: ">B",
    0xDA: ">H",
    0xDB: ">I",
}
"""How MessagePack begins bytes and text, and the form of the length that follows."""


class _Part(io.RawIOBase):
    """Bytes of which each can be read at any time."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._position = 0

    @abstractmethod
    def _read_at(self, position: int, out: memoryview) -> int:
        """Fills `out` with the bytes from there on, of which there are enough; 0 if not."""

    @abstractmethod
    def _all_from(self, position: int) -> bytes:
        """The bytes from there on."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        self._check()
        out = memoryview(buffer).cast("B")
        out = out[: max(self._length - self._position, 0)]
        read = self._read_at(self._position, out) if out else 0
        self._position += read
        return read

    def readall(self) -> bytes:
        self._check()
        left = self._all_from(self._position) if self._position < self._length else b""
        self._position += len(left)
        return left

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._check()
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._length}
        position = base[whence] + offset
        if position < 0:
            raise ValueError(f"negative seek position {position}")
        self._position = position
        return position

    def tell(self) -> int:
        self._check()
        return self._position

    def _check(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on a closed file")


class _InMemory(_Part):
    def __init__(self, value: bytes) -> None:
        super().__init__(len(value))
        self._value = value

    def _read_at(self, position: int, out: memoryview) -> int:
        out[:] = memoryview(self._value)[position : position + len(out)]
        return len(out)

    def _all_from(self, position: int) -> bytes:
        return self._value[position:]

    def close(self) -> None:
        self._value = b""
        super().close()


class _InFile(_Part):
    """A part of a file. A process that was forked has its own position in it."""

    def __init__(self, descriptor: int, offset: int, length: int) -> None:
        super().__init__(length)
        self._descriptor = descriptor
        self._offset = offset

    def _read_at(self, position: int, out: memoryview) -> int:
        read = os.preadv(self._descriptor, [out], self._offset + position)
        if read == 0:
            raise _cut_short()
        return read

    def _all_from(self, position: int) -> bytes:
        parts = []
        # One is enough, but for values above 2 GiB.
        while position < self._length:
            left = self._length - position
            parts.append(os.pread(self._descriptor, left, self._offset + position))
            if not parts[-1]:
                raise _cut_short()
            position += len(parts[-1])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def reader(cache: "Cache", key: str | bytes) -> io.BufferedReader:
    """The key's bytes or text. Raises KeyError, and `WrongType` for another value."""
    found = _native.open_file(cache, key)
    if found is not None:
        part = _in_file(*found)
        if part is not None:
            return io.BufferedReader(part, _BUFFER)
    value: Any = cache.get(key, MISSING)
    if value is MISSING:
        raise KeyError(key)
    if isinstance(value, str):
        value = value.encode()
    if not isinstance(value, bytes):
        raise _not_bytes(type(value).__qualname__)
    return io.BufferedReader(_InMemory(value), min(_BUFFER, max(len(value), 1)))


def _in_file(descriptor: int, offset: int, length: int, serializer: str) -> _InFile | None:
    """None for a value of another type, and for text that has to be checked as a whole."""
    if serializer != "bytes":
        head = _head_of_bytes(os.pread(descriptor, _LONGEST_HEAD, offset), length)
        if serializer != "messagepack" or head is None:
            os.close(descriptor)
            return None
        offset, length = offset + head, length - head
    return _InFile(descriptor, offset, length)


def _head_of_bytes(head: bytes, length: int) -> int | None:
    """The length of what MessagePack puts before bytes that are the whole value."""
    form = _HEADS.get(head[0]) if head[:1] in (b"\xc4", b"\xc5", b"\xc6") else None
    if form is None:
        return None
    size = 1 + struct.calcsize(form)
    (told,) = struct.unpack(form, head[1:size])
    return size if told == length - size else None


def _cut_short() -> ChecksumMismatch:
    return ChecksumMismatch("the value's file is shorter than it was: set or delete it")


def _not_bytes(kind: str) -> WrongType:
    return WrongType(f"the value is a {kind}: only bytes and text can be read as a file")
