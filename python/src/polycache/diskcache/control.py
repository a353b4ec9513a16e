"""A page of numbers that all processes of a cache map, and the lock of those that write.

The lock is one of the kernel's, so it ends with its process. The page has a mark that stands while
entries and numbers change: who finds it set has followed a process that was killed in the midst, or
a machine that lost its power, and mends what it left.
"""

import fcntl
import mmap
import os
import struct
import threading
import time
import weakref
from pathlib import Path

from ..errors import ForeignDirectory, UnsupportedVersion
from .errors import Timeout

_MAGIC = b"PCDISKC1"
_SIZE = 4096
_DIRTY = 8
_BOOT = 16
_NUMBERS = 64
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Numbers:
    """What is counted. `head` to `tail` are bounds of the places that are taken in the order of
    insertion, and `front` to `back` those of the keys of the queue without a prefix, of which there
    are `queued`."""

    NAMES = (
        "count", "size", "head", "tail", "next", "front", "back", "hits", "misses", "hand",
        "expiring", "queued",
    )  # fmt: skip
    __slots__ = NAMES
    _FORMAT = struct.Struct(f"<{len(NAMES)}q")

    count: int
    size: int
    head: int
    tail: int
    next: int
    front: int
    back: int
    hits: int
    misses: int
    hand: int
    expiring: int
    queued: int

    def __init__(self, *numbers: int) -> None:
        (
            self.count, self.size, self.head, self.tail, self.next,
            self.front, self.back, self.hits, self.misses, self.hand,
            self.expiring, self.queued,
        ) = numbers or (0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0)  # fmt: skip

    def packed(self) -> bytes:
        """As they stand in the page."""
        return self._FORMAT.pack(
            self.count, self.size, self.head, self.tail, self.next,
            self.front, self.back, self.hits, self.misses, self.hand,
            self.expiring, self.queued,
        )  # fmt: skip

    @classmethod
    def unpacked(cls, data: bytes) -> "Numbers":
        """From how they stand in the page."""
        return cls(*cls._FORMAT.unpack(data))

    @classmethod
    def length(cls) -> int:
        """In bytes."""
        return cls._FORMAT.size


def _boot() -> bytes:
    try:
        return bytes.fromhex(_BOOT_ID.read_text().strip().replace("-", ""))
    except (OSError, ValueError):
        return b"\1" * 16


class Control:
    """The page and the lock. One thread of one process holds it; a second one waits."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._pid = os.getpid()
        self._mutex = threading.Lock()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not self._is_made():  # So that nobody waits for a writer only to open it.
                fcntl.flock(self._file, fcntl.LOCK_EX)
                self._make()
                fcntl.flock(self._file, fcntl.LOCK_UN)
            self._page = self._mapped()
        except BaseException:
            os.close(self._file)
            raise
        _all.add(self)
        self._close = weakref.finalize(self, _closed, self._file, self._page)

    def _mapped(self) -> mmap.mmap:
        # By a file of its own: a mapping keeps its file, which a forked child could not close, and
        # with it the lock of its parent.
        file = self._opened_again()
        try:
            return mmap.mmap(file, _SIZE)
        finally:
            os.close(file)

    def _opened_again(self) -> int:
        # Not by its path, where another file may be by now, or none.
        return os.open(f"/proc/self/fd/{self._file}", os.O_RDWR | os.O_CLOEXEC)

    def _is_made(self) -> bool:
        found = os.pread(self._file, _SIZE, 0)
        return len(found) == _SIZE and found[:8] == _MAGIC

    def _make(self) -> None:
        if self._is_made():
            return
        found = os.pread(self._file, _SIZE, 0)
        if found[:7] == _MAGIC[:7] and found[:8] != _MAGIC:
            raise UnsupportedVersion(f"{self._path} is of a later version")
        if found[:8].strip(b"\0"):
            raise ForeignDirectory(f"{self._path} is another program's file")
        # What is already stored, if anything, is counted when the mark is found. The first bytes
        # are written last, so that a page is whole or made again.
        page = bytearray(_SIZE)
        page[_DIRTY] = 1
        start = Numbers().packed()
        page[_NUMBERS : _NUMBERS + len(start)] = start
        os.pwrite(self._file, bytes(page), 0)
        os.pwrite(self._file, _MAGIC, 0)

    def acquire(self, timeout: float | None) -> None:
        """Waits for the lock; raises `Timeout` after so many seconds. None: waits on."""
        if self._pid != os.getpid():
            self.forked()
        ends = None if timeout is None else time.monotonic() + timeout
        if not self._mutex.acquire(timeout=-1 if timeout is None else max(timeout, 0)):
            raise Timeout
        pause = 0.00005
        try:
            while True:
                try:
                    fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return
                except BlockingIOError:
                    pass
                if ends is not None and time.monotonic() >= ends:
                    raise Timeout
                time.sleep(pause)
                pause = min(pause * 1.5, 0.001)
        except BaseException:
            # An interrupt may have come right after the kernel gave the lock.
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._mutex.release()
            raise

    def release(self) -> None:
        """Gives the lock back."""
        fcntl.flock(self._file, fcntl.LOCK_UN)
        self._mutex.release()

    def forked(self) -> None:
        """Takes the lock apart from the parent's: it belongs to the open file, which a forked child
        shares."""
        if self._pid == os.getpid():
            return
        self._pid = os.getpid()
        self._mutex = threading.Lock()
        again = self._opened_again()
        os.dup2(again, self._file, inheritable=False)
        os.close(again)

    @property
    def needs_mending(self) -> bool:
        """Whether entries and numbers may not agree."""
        return self._page[_DIRTY] != 0 or self._page[_BOOT : _BOOT + 16] != _boot_id

    def begin(self) -> None:
        """Sets the mark."""
        self._page[_DIRTY] = 1

    def end(self) -> None:
        """Takes the mark away: entries and numbers agree."""
        if self._page[_BOOT : _BOOT + 16] != _boot_id:
            self._page[_BOOT : _BOOT + 16] = _boot_id
        self._page[_DIRTY] = 0

    def read(self) -> Numbers:
        """The numbers."""
        return Numbers.unpacked(self._page[_NUMBERS : _NUMBERS + Numbers.length()])

    @property
    def count(self) -> int:
        """How many entries there are; needs no lock."""
        return int.from_bytes(self._page[_NUMBERS : _NUMBERS + 8], "little")

    def write(self, numbers: Numbers) -> None:
        """Sets the numbers."""
        self._page[_NUMBERS : _NUMBERS + Numbers.length()] = numbers.packed()


def _closed(file: int, page: mmap.mmap) -> None:
    page.close()
    os.close(file)


_boot_id = _boot()
_all: "weakref.WeakSet[Control]" = weakref.WeakSet()


def _in_child() -> None:
    # At once: a lock that the parent holds would otherwise live on with the child.
    for control in list(_all):
        control.forked()


os.register_at_fork(after_in_child=_in_child)
