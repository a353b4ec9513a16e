"""One file an entry: readable by hand, good for large values, and there is nothing to install.

A key's file is `entries/<two digits of its hash>/<the key, escaped>`. It is written under another
name and then renamed, so readers see the old one or the new one.
"""

import ctypes
import itertools
import os
import re
import shutil
import zlib
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote_to_bytes

from .at_fork import notice
from .store import Opening, Store
from .unnamed import give_name, new_file

_SAFE = " !#$&'()+,-.:;=@[]^_`{}~"
"""Characters that a name has unescaped, besides letters and digits; never `/` and `%`."""
_is_plain = re.compile(b"[A-Za-z0-9" + re.escape(_SAFE.encode()) + b"]+").fullmatch
_BLOCK = 4096
_number = itertools.count()


def _allocated(size: int) -> int:
    """Bytes that a file of this size takes, with its name."""
    return -(-size // _BLOCK) * _BLOCK + 128


class FilesStore(Store):
    name = "files"
    durabilities = ("kill", "synced")
    processes = True
    counts = True
    has_files = True
    # Escaped, a key may take three times its bytes, and a name has 255.
    max_key = 84

    def __init__(self, opening: Opening) -> None:
        self._root = opening.folder / "entries"
        self._new = opening.folder / "new"
        self._entries = str(self._root)
        self._rename_new()
        self._limit = opening.limit
        self._synced = opening.durability == "synced"
        self._closed = False
        if opening.read_only:
            return
        if opening.ended == "power lost":
            # A name may stand for a file whose bytes were never written.
            shutil.rmtree(self._root, ignore_errors=True)
        if opening.alone:
            # What killed processes left, even if others closed the store since.
            shutil.rmtree(self._new, ignore_errors=True)
        for folder in (self._root, self._new):
            folder.mkdir(mode=0o700, exist_ok=True)
        notice(self)

    def forked(self) -> None:
        """A child's new files are not its parent's."""
        self._rename_new()

    def _rename_new(self) -> None:
        # A process' number may be another's, too: in another container.
        self._prefix = f"{self._new}/{os.urandom(8).hex()}-"

    def _path(self, key: bytes) -> str:
        # Most keys have nothing to escape, and escaping takes as long as a system call.
        name = key.decode() if _is_plain(key) else quote_from_bytes(key, _SAFE)
        if name[0] == ".":
            name = "%2E" + name[1:]
        return f"{self._entries}/{zlib.crc32(key) & 0xFF:02x}/{name}"

    def get(self, key: bytes) -> bytes | None:
        self._check()
        try:
            file = os.open(self._path(key), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            size = os.fstat(file).st_size
            parts = []
            # One read is enough, but for values above 2 GiB.
            while size > 0 and (part := os.read(file, size)):
                parts.append(part)
                size -= len(part)
            return parts[0] if len(parts) == 1 else b"".join(parts)
        finally:
            os.close(file)

    def put(self, key: bytes, value: bytes) -> int:
        self._check()
        path = self._path(key)
        new = f"{self._prefix}{next(_number)}"
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            try:
                _write(file, value)
                if self._synced:
                    os.fsync(file)
            finally:
                os.close(file)
            return self._publish(new, path, len(value))
        except BaseException:
            with suppress(OSError):
                os.unlink(new)
            raise

    def new_file(self) -> tuple[int, str | None]:
        self._check()
        return new_file(self._new, f"{self._prefix}{next(_number)}")

    def put_file(
        self, key: bytes, file: tuple[int, str | None], head: bytes, tail: bytes, end: int
    ) -> int:
        self._check()
        path = self._path(key)
        descriptor, name = file
        _write(descriptor, head, 0)
        _write(descriptor, tail, end)
        if self._synced:
            os.fsync(descriptor)
        new = name or f"{self._prefix}{next(_number)}"
        try:
            if name is None:
                give_name(descriptor, new)
            return self._publish(new, path, end + len(tail))
        except BaseException:
            if name is None:
                with suppress(OSError):
                    os.unlink(new)
            raise

    def open_file(self, key: bytes) -> int | None:
        self._check()
        try:
            return os.open(self._path(key), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None

    def _publish(self, new: str, path: str, size: int) -> int:
        """Gives a whole file its place, and returns by how many bytes the store grew."""
        before = self._size_of(path)
        grown = self._rename(new, path)
        if self._synced:
            _sync_folder(os.path.dirname(path))
        return _allocated(size) - before + grown

    def delete(self, key: bytes) -> int:
        self._check()
        path = self._path(key)
        return self._unlink(path, self._size_of(path))

    def _unlink(self, path: str, before: int) -> int:
        try:
            os.unlink(path)
        except FileNotFoundError:
            return 0
        if self._synced:
            _sync_folder(os.path.dirname(path))
        return -before

    def pop(self, key: bytes, most: int) -> tuple[bytes | None, int | None]:
        self._check()
        path = self._path(key)
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None, 0
        try:
            head = os.read(file, most)
            before = _allocated(os.fstat(file).st_size)
        finally:
            os.close(file)
        return head, self._unlink(path, before)

    def scan(self, prefix: bytes, cursor: bytes | None) -> tuple[list[bytes], bytes | None]:
        self._check()
        shard = int(cursor or b"0")
        keys = []
        with suppress(FileNotFoundError):
            for name in os.listdir(f"{self._root}/{shard:02x}"):
                key = unquote_to_bytes(name)
                if key.startswith(prefix):
                    keys.append(key)
        return keys, None if shard == 0xFF else b"%d" % (shard + 1)

    def size(self) -> int:
        self._check()
        total = 0
        for shard in os.scandir(self._root):
            total += _BLOCK
            with os.scandir(shard) as names:
                for name in names:
                    with suppress(FileNotFoundError):
                        total += _allocated(name.stat().st_size)
        return total

    def close(self) -> None:
        self._closed = True

    def flush(self) -> None:
        if not self._synced:
            _sync_file_system(self._root)

    def _check(self) -> None:
        if self._closed:
            raise ValueError("the store was closed")

    def _size_of(self, path: str) -> int:
        try:
            return _allocated(os.stat(path).st_size)
        except FileNotFoundError:
            return 0

    def _rename(self, new: str, path: str) -> int:
        """Returns the bytes of a folder that it made."""
        try:
            os.rename(new, path)
            return 0
        except FileNotFoundError:
            # The first entry of its folder; or the cache's directory was removed.
            grown = 0
            with suppress(FileExistsError):
                os.mkdir(os.path.dirname(path), 0o700)
                grown = _BLOCK
            if self._synced:
                _sync_folder(str(self._root))
            os.rename(new, path)
            return grown


def _write(file: int, data: bytes, at: int | None = None) -> None:
    """All of it, at a place or where the file stands."""
    rest = memoryview(data)
    while rest:
        written = os.write(file, rest) if at is None else os.pwrite(file, rest, at)
        at = None if at is None else at + written
        rest = rest[written:]


def _sync_folder(folder: str) -> None:
    """Writes its names to the disk."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _sync_file_system(folder: Path) -> None:
    """Writes everything that was changed in the folder's file system to the disk, and waits."""
    try:
        syncfs = ctypes.CDLL(None).syncfs
    except (AttributeError, OSError):
        os.sync()
        return
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if syncfs(file) != 0:
            os.sync()
    finally:
        os.close(file)
