"""A value that is written as a file, and stored when that is closed."""

import io
import os
import warnings
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .. import _native
from ..errors import (
    EntryTooLarge,
    InvalidArgument,
    IoError,
    NoSpace,
    PolycacheError,
    UnsupportedValue,
    ValueTooLarge,
)

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from ..cache import Cache
    from ..lifetime import Ttl

_BUFFER = 256 * 1024
_FULL = (28, 122, 27)
"""ENOSPC, EDQUOT, EFBIG."""


class ValueWriter(io.BufferedIOBase):
    """The bytes of a value. `close` stores them; so does the end of a `with` block, unless that
    raises. `discard`, and letting go of it, store nothing.

    It cannot seek. A write that fails, or one of too many bytes, ends it: `close` raises the same.
    """

    def __init__(self, cache: "Cache", key: str | bytes, ttl: "Ttl") -> None:
        self._sink: _Memory | _File | None = None
        self._key = key
        serializer = cache._options.get("serializer")
        if serializer not in (None, "messagepack", "bytes"):
            raise UnsupportedValue(
                f'the serializer "{serializer}" stores no bytes: see `serializer`'
            )
        file, offset, max_in_entry, max_value = _native.begin_file(cache, key, ttl)
        self._max_value, self._max_in_entry = max_value, max_in_entry
        self._written = 0
        self._failed: BaseException | None = None
        if file is None:
            self._sink = _Memory(cache, key, ttl)
        else:
            self._sink = _File(cache, key, ttl, file, offset)

    @property
    def name(self) -> str | bytes:
        """The key."""
        return self._key

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        self._open_sink()
        return self._written

    def write(self, data: "ReadableBuffer") -> int:
        sink = self._open_sink()
        try:
            given = memoryview(data)
            piece = given if given.format == "B" and given.ndim == 1 else given.cast("B")
            self._check_size(self._written + len(piece))
            sink.write(piece)
        except BaseException as error:
            self._failed = error
            raise
        self._written += len(piece)
        return len(piece)

    def discard(self) -> None:
        """Closes it, and stores nothing."""
        sink, self._sink = self._sink, None
        if sink is not None:
            sink.discard()
        super().close()

    def close(self) -> None:
        """Stores the value. Raises what `set` raises; then nothing is stored."""
        if self.closed:
            return
        sink, failed = self._sink, self._failed
        if sink is None or failed is not None:
            self.discard()
            if failed is not None:
                raise failed
            return
        try:
            sink.store()
        finally:
            self.discard()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        if self._sink is not None:
            self.discard()
            warnings.warn(
                "a value that was being written was never closed: nothing is stored",
                ResourceWarning,
                stacklevel=2,
            )

    def _open_sink(self) -> "_Memory | _File":
        if self._sink is None:
            raise ValueError("I/O operation on a closed file")
        if self._failed is not None:
            raise self._failed
        return self._sink

    def _check_size(self, size: int) -> None:
        if size > self._max_value:
            limit = self._max_value
            raise ValueTooLarge(
                f"the value has more than {limit} bytes: raise max_value", size, limit
            )
        if size > self._max_in_entry:
            limit = self._max_in_entry
            raise EntryTooLarge(
                f"the entry's value may have {limit} bytes: raise the limit", size, limit
            )


class TextWriter(io.TextIOWrapper):
    """The same for text."""

    def __init__(self, writer: ValueWriter, **how: Any) -> None:
        self._writer = writer
        super().__init__(writer, **how)

    def discard(self) -> None:
        """Closes it, and stores nothing."""
        self._writer.discard()

    def close(self) -> None:
        if not self._writer.closed:
            try:
                self.flush()
            except BaseException:
                self.discard()
                raise
            self._writer.close()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        # TextIOWrapper's would flush what is left, and close.
        self._writer.__del__()


class _Memory:
    """Bytes for a tier that takes a value as a whole."""

    def __init__(self, cache: "Cache", key: str | bytes, ttl: "Ttl") -> None:
        self._cache, self._key, self._ttl = cache, key, ttl
        self._bytes = io.BytesIO()

    def write(self, piece: memoryview) -> None:
        self._bytes.write(piece)

    def store(self) -> None:
        # Which shares its bytes, and copies none.
        self._cache.set(self._key, self._bytes.getvalue(), ttl=self._ttl)  # type: ignore[arg-type]

    def discard(self) -> None:
        self._bytes.close()


class _File:
    """A file of a store, which nobody reads before it is stored."""

    def __init__(
        self,
        cache: "Cache",
        key: str | bytes,
        ttl: "Ttl",
        file: tuple[int, str | None],
        offset: int,
    ) -> None:
        self._cache, self._key, self._ttl = cache, key, ttl
        self._made = file
        self._pid = os.getpid()
        self._file = open(file[0], "wb", buffering=_BUFFER)  # noqa: SIM115
        self._file.seek(offset)
        self._crc = 0
        self._length = 0

    def write(self, piece: memoryview) -> None:
        with _typed():
            self._file.write(piece)
        self._crc = zlib.crc32(piece, self._crc)
        self._length += len(piece)

    def store(self) -> None:
        if os.getpid() != self._pid:
            raise InvalidArgument("a value is stored by the process that began to write it")
        with _typed():
            self._file.flush()
        _native.put_file(self._cache, self._key, self._made, self._crc, self._length, self._ttl)

    def discard(self) -> None:
        # What it has yet to write goes nowhere: a full disk is no reason to fail here.
        with suppress(OSError):
            self._file.close()
        name = self._made[1]
        if name is not None and os.getpid() == self._pid:
            with suppress(OSError):
                os.unlink(name)


class _typed:
    """Errors of the system as those of the cache."""

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, OSError) and not isinstance(error, PolycacheError):
            full = error.errno in _FULL
            text = f"cannot write the value's file: {error}"
            raise (NoSpace(text) if full else IoError(text)) from error
