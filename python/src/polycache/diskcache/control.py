"""A page of numbers that all processes of a cache map, and the lock of those that write.

The lock is one of the kernel's, so it ends with its process. A writer that waits for it looks again
and again, and would seldom find it free while others take it many times a second. So a writer that
has waited for a while takes a second lock, the gate, and says so in the page: then all others wait
before it.

The page has a mark that stands while entries and numbers change: who finds it set has followed a
process that was killed in the midst, or a machine that lost its power, and mends what it left.
"""

import fcntl
import mmap
import os
import struct
import threading
import time
import weakref
from pathlib import Path
from random import random

from ..errors import ForeignDirectory, UnsupportedVersion
from .errors import Timeout

_MAGIC = b"PCDISKC2"
_SIZE = 4096
_DIRTY = 8
_GATED = 9
"""Somebody waits at the gate. It may stand after a kill, until the next one has passed."""
_BOOT = 16
_NUMBERS = 64
_PATIENCE = 0.001
"""Seconds after which a writer that waits goes to the gate."""
_LONG = 0.1
"""Seconds after which it looks seldom."""
_FLOCK = struct.Struct("hhqqi4x")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Numbers:
    """What is counted. `head` to `tail` are bounds of the places that are taken in the order of
    insertion, and `front` to `back` those of the keys of the queue without a prefix, of which there
    are `queued`. `due` is the millisecond before which nothing expires."""

    NAMES = (
        "count", "size", "head", "tail", "next", "front", "back", "hits", "misses", "due",
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
    due: int
    expiring: int
    queued: int

    def __init__(self, *numbers: int) -> None:
        (
            self.count, self.size, self.head, self.tail, self.next,
            self.front, self.back, self.hits, self.misses, self.due,
            self.expiring, self.queued,
        ) = numbers or (0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0)  # fmt: skip

    def packed(self) -> bytes:
        """As they stand in the page."""
        return self._FORMAT.pack(
            self.count, self.size, self.head, self.tail, self.next,
            self.front, self.back, self.hits, self.misses, self.due,
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
    """The page and the lock. One thread of one process holds it; a second one waits, of the same
    process or another."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._pid = os.getpid()
        self._mutex = threading.Lock()
        self._gate = threading.Lock()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not self._is_made():  # So that nobody waits for a writer only to open it.
                fcntl.flock(self._file, fcntl.LOCK_EX)
                self._make()
                fcntl.flock(self._file, fcntl.LOCK_UN)
            self.page = self._mapped()
        except BaseException:
            os.close(self._file)
            raise
        _all.add(self)
        self._close = weakref.finalize(self, _closed, self._file, self.page)

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
            raise UnsupportedVersion(f"{self._path} is of another version")
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
        if self.page[_GATED] or not self._try():
            self._wait(timeout)

    def _wait(self, timeout: float | None) -> None:
        # Only pauses count, as in SQLite: on a busy machine a thread may not run for longer than
        # the timeout, and would give up although it has hardly looked.
        waited = 0.0
        is_at_gate = False
        try:
            while True:
                if not is_at_gate and (self.page[_GATED] or waited > _PATIENCE):
                    is_at_gate = self._try_gate()
                if (is_at_gate or not self.page[_GATED]) and self._try():
                    return
                if timeout is not None and waited >= timeout:
                    raise Timeout
                pause = _pause(waited, is_at_gate)
                time.sleep(pause)
                waited += pause
        finally:
            if is_at_gate:
                self.page[_GATED] = 0
                self._lock_gate(fcntl.F_UNLCK)
                self._gate.release()

    def _try(self) -> bool:
        if not self._mutex.acquire(blocking=False):
            return False
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._mutex.release()
            return False
        except BaseException:
            # An interrupt may have come right after the kernel gave the lock.
            self.release()
            raise
        return True

    def _try_gate(self) -> bool:
        if not self._gate.acquire(blocking=False):
            return False
        try:
            self._lock_gate(fcntl.F_WRLCK)
            self.page[_GATED] = 1
        except BlockingIOError:
            self._gate.release()
            return False
        except BaseException:
            self._lock_gate(fcntl.F_UNLCK)
            self._gate.release()
            raise
        return True

    def _lock_gate(self, kind: int) -> None:
        # Of the first byte: such a lock is apart from that of the whole file.
        fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, _FLOCK.pack(kind, os.SEEK_SET, 0, 1, 0))

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
        self._gate = threading.Lock()
        again = self._opened_again()
        os.dup2(again, self._file, inheritable=False)
        os.close(again)

    @property
    def needs_mending(self) -> bool:
        """Whether entries and numbers may not agree."""
        return self.page[_DIRTY] != 0 or self.page[_BOOT : _BOOT + 16] != _boot_id

    def begin(self) -> None:
        """Sets the mark."""
        self.page[_DIRTY] = 1

    def end(self) -> None:
        """Takes the mark away: entries and numbers agree."""
        if self.page[_BOOT : _BOOT + 16] != _boot_id:
            self.page[_BOOT : _BOOT + 16] = _boot_id
        self.page[_DIRTY] = 0

    def read(self) -> Numbers:
        """The numbers."""
        return Numbers.unpacked(self.page[_NUMBERS : _NUMBERS + Numbers.length()])

    @property
    def count(self) -> int:
        """How many entries there are; needs no lock."""
        return int.from_bytes(self.page[_NUMBERS : _NUMBERS + 8], "little")

    def write(self, numbers: Numbers) -> None:
        """Sets the numbers."""
        self.page[_NUMBERS : _NUMBERS + Numbers.length()] = numbers.packed()


def _pause(waited: float, is_at_gate: bool) -> float:
    if waited > _LONG:
        most = 0.001
    elif is_at_gate or waited <= _PATIENCE:
        most = 0.00005
    else:
        # Before the gate, the longest waiter looks most often.
        most = 0.00005 + 0.0005 * (1 - waited / _LONG) ** 4
    # A part by chance, so that nobody looks whenever another one has the lock.
    return most * (0.5 + random() / 2)


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
