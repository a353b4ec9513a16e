"""Rows over the host store: what diskcache keeps in tables, in entries of one directory.

    r <key>      [place, mode, value, expires, tag, stored, accessed, uses, weight, size, line]
    o <place>    [key, seal of a pickled key]: the order of insertion
    v <id>       the value of a row, when it is large
    e <line>     [place, expires]: a row in one of the lines of what expires (`lines`)
    q <prefix>   [front, back]: bounds of the keys of a queue
    t            a transaction of several rows that is being written

Readers take no lock. Writers hold the directory's one, and collect what they change until their
outermost block ends: then the mark of `Control` is set, all is written, and the mark is taken away.
Rows refer to places and large values only when these are written, and places and large values
outlive the rows, so a reader finds a row whole or not at all, whoever is killed.
"""

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from math import inf
from typing import Any, Final

from ..cache import Cache as HostCache
from ..errors import InvalidArgument, NoSpace, PolycacheError
from .clock import timestamp
from .control import Control, Numbers
from .disk_space import OWN_BYTES, space
from .foreign import CONTROL, STORE
from .keys import key_of
from .lines import NEVER, Lines, line_name, milliseconds

Row = list[Any]
PLACE, MODE, VALUE, EXPIRES, TAG, STORED, ACCESSED, USES, WEIGHT, SIZE, LINE = range(11)

LARGE = 2048
"""Bytes of a value that is written beside its row."""
APART = 16
"""In the mode of a row: its value is elsewhere."""
LONGEST_KEY = 1024
REDO = b"t"
"""No row's name begins so."""
QUEUED = 10**15
"""Above the numbers of keys in queues."""
HOLES = 1000
"""Places and numbers without a row that are passed before all rows are looked at."""

_GONE: Final = object()


class Store:
    """One directory's rows, for one handle."""

    def __init__(self, directory: str, limit: int) -> None:
        self._folder = os.path.join(directory, STORE)
        self._host = HostCache(self._folder, limit=limit, memory=False, max_value="64GiB")
        self.data = self._host.namespace("data")
        self.meta = self._host.namespace("settings")
        self.limit = int(self._host.stats().limit)
        """Of the host store: that of who made it first."""
        self.control = Control(os.path.join(directory, CONTROL))
        self._owner: int | None = None
        self._depth = 0
        self._pending: dict[bytes, Any] = {}
        self._fresh: set[bytes] = set()
        self._has_begun = False
        self._held = 0
        self._obsolete: list[bytes] = []
        self._several = False
        self._pid = os.getpid()
        self._numbers = Numbers()
        self._lines = Lines(self.control.page)
        self._before = b""
        self._cursor: int | None = 0
        self._finalize = weakref.finalize(self, self._host.close)

    # Reading.

    def read(self, name: bytes) -> Any:
        """What is stored under a name, with what this thread's block has changed; None without."""
        if self._pending and self.is_mine():
            found = self._pending.get(name)
            if found is not None:
                return None if found is _GONE else found
        return self.data.get(name)

    def row(self, code: bytes) -> Row | None:
        """The row of a key."""
        return self.read(row_name(code))  # type: ignore[no-any-return]

    def value(self, row: Row) -> Any:
        """The value of a row; None when it is elsewhere and gone, because it was replaced
        meanwhile."""
        return self.read(row[VALUE]) if row[MODE] & APART else row[VALUE]

    def place(self, number: int) -> Any:
        """The key at a place, with its seal, or None."""
        return self.read(place_name(number))

    def names(self, prefix: bytes) -> Iterator[bytes]:
        """All names that begin so, in no order."""
        mine = self._pending if self.is_mine() else {}
        for name in list(self.data.keys(prefix)):
            name = name.encode() if isinstance(name, str) else name
            if name not in mine:
                yield name
        for name, value in list(mine.items()):
            if name.startswith(prefix) and value is not _GONE:
                yield name

    def is_mine(self) -> bool:
        """Whether this thread is in a block that writes."""
        return self._owner == threading.get_ident() and self._pid == os.getpid()

    @property
    def is_nested(self) -> bool:
        """Whether this block is within another."""
        return self._depth > 1

    @property
    def numbers(self) -> Numbers:
        """The numbers: this block's to change, or others' as they are now."""
        return self._numbers if self.is_mine() else self.control.read()

    @property
    def count(self) -> int:
        """How many rows there are, with expired ones."""
        return self._numbers.count if self.is_mine() else self.control.count

    # Writing.

    def begin(self, timeout: float | None, together: bool = False) -> None:
        """Enters a block: what it changes is written when the outermost one ends. `together`: all
        of it or nothing, whoever is killed. Raises `Timeout`."""
        if self.is_mine():
            self._depth += 1
            return
        self.control.acquire(timeout)
        try:
            self._pid = os.getpid()
            self._owner = threading.get_ident()
            self._depth = 1
            self._several = together
            self._pending, self._fresh, self._obsolete = {}, set(), []
            self._has_begun = False
            self._held = 0
            self._lines.begin()
            if self.control.needs_mending:
                self.mend()
            self._numbers = self.control.read()
            self._before = self._numbers.packed()
        except BaseException:
            self._leave()
            raise

    def end(self, failed: bool = False) -> None:
        """Leaves a block. The outermost one writes, or forgets when it failed."""
        if not self.is_mine():
            return  # A child that was forked in the block.
        self._depth -= 1
        if self._depth:
            return
        try:
            if failed:
                self._discard()
            else:
                self._write()
        finally:
            self._leave()

    def _leave(self) -> None:
        self._pending = {}
        self._owner = None
        self.control.release()

    def put(self, name: bytes, value: Any) -> None:
        """Stores a value under a name, when the block ends."""
        # Names are written in the order of their last change.
        self._pending.pop(name, None)
        self._pending[name] = value

    def erase(self, name: bytes) -> None:
        """Deletes a name, when the block ends."""
        self._pending.pop(name, None)
        self._pending[name] = _GONE

    def put_apart(self, value: Any, size: int) -> bytes:
        """Stores a large value of so many bytes at once, under a name that no row has yet."""
        name = b"v" + os.urandom(16)
        if size > (found := self.space) // 4 and found < self.limit:
            raise NoSpace("the disk is nearly full: it has no room for a value of this size")
        if self._depth > 1:
            self._check_transaction(size)
        self.control.begin()
        self._has_begun = True
        self._fresh.add(name)
        self.data.set(name, value)
        return name

    def drop_apart(self, row: Row) -> None:
        """Deletes the row's large value after the block, or at once when it is the block's own."""
        name = row[VALUE]
        if not row[MODE] & APART:
            self._held += row[WEIGHT]
        elif name in self._fresh:
            self._fresh.remove(name)
            self.data.delete(name)
        else:
            self._held += row[WEIGHT]
            self._obsolete.append(name)

    def _write(self) -> None:
        packed = self._numbers.packed()
        if not (
            self._pending or packed != self._before or self._has_begun or self._lines.has_changed
        ):
            return
        rows = sum(name[:1] == b"r" for name in self._pending) if self._several else 0
        if rows > 1:
            try:
                self._write_redo()
            except PolycacheError:
                self._discard()
                raise
        self.control.begin()
        self._apply(self._pending.items())
        self.control.write(self._numbers)
        self._lines.write()
        if rows > 1:
            self.data.delete(REDO)
        for name in self._obsolete:
            self.data.delete(name)
        self.control.end()

    def _write_redo(self) -> None:
        more = 0
        for name, value in self._pending.items():
            if value is _GONE:
                continue
            if name[:1] == b"o":
                more += len(value[0])
            elif name[:1] == b"r" and not value[MODE] & APART:
                more += value[WEIGHT]
        self._check_transaction(more)
        self.control.begin()
        self._has_begun = True
        self.data.set(
            REDO,
            [[name, None if value is _GONE else value] for name, value in self._pending.items()],
        )

    def _check_transaction(self, more: int) -> None:
        # What it replaces and removes stays until it ends, and the host store has to keep both.
        if self._numbers.size + self._held + more > (self.limit - OWN_BYTES) * 85 // 100:
            raise NoSpace(
                "the transaction is too large for its directory: together with what it replaces "
                "and removes it must fit. Divide it, or move to a directory with a larger "
                "size_limit"
            )

    def _apply(self, changes: Iterable[tuple[bytes, Any]]) -> None:
        for name, value in changes:
            if value is _GONE:
                self.data.delete(name)
            else:
                self.data.set(name, value)

    def _discard(self) -> None:
        for name in self._fresh:
            self.data.delete(name)
        if self._has_begun:
            self.control.end()

    def damages(self) -> Iterator[str]:
        """What is wrong, within a block: entries whose checksums do not agree, and rows, order and
        numbers that do not."""
        yield from self._host.check().damaged
        rows = queued = 0
        for name in self.names(b"r"):
            rows += 1
            queued += is_queued(name[1:])
        places = 0
        for name in self.names(b"o"):
            places += 1
            entry = self._readable(name)
            row = self._readable(row_name(entry[0])) if isinstance(entry, list) else None
            if not isinstance(row, list) or place_name(row[PLACE]) != name:
                yield f"no entry at place {int.from_bytes(name[1:])}"
        if not rows == places == self._numbers.count:
            yield f"{rows} entries, {places} places, counted {self._numbers.count}"
        lines = sum(1 for _ in self.names(b"e"))
        if lines != self._numbers.expiring:
            yield f"{lines} entries in line to expire, counted {self._numbers.expiring}"
        if queued != self._numbers.queued:
            yield f"{queued} keys of the queue, counted {self._numbers.queued}"

    def mend_now(self) -> None:
        """`mend`, at the beginning of a block."""
        if self._pending:
            raise InvalidArgument("check(fix=True) within a transaction that has changed something")
        self.mend()
        self._numbers = self.control.read()
        self._before = self._numbers.packed()

    def clear(self) -> int:
        """Deletes all rows, and says how many there were."""
        count = self._numbers.count
        if self._depth > 1 or self._pending:
            for number in list(self.places()):
                self.remove_place(number)
            return count
        self.control.begin()
        self.data.clear()
        self._numbers = Numbers(
            0, 0, self._numbers.next, self._numbers.next - 1, self._numbers.next, 0, 0,
            self._numbers.hits, self._numbers.misses, NEVER, 0, 0,
        )  # fmt: skip
        self._lines.reset()
        self.control.write(self._numbers)
        self._lines.write()
        self._before = self._numbers.packed()
        self.control.end()
        return count

    # Rows, within a block.

    def insert(self, code: bytes, seal: bytes | None, row: Row) -> None:
        """Adds a row, at the end of the order."""
        numbers = self._numbers
        row[PLACE] = numbers.next
        if numbers.count == 0:
            numbers.head = numbers.next
        numbers.tail = numbers.next
        numbers.next += 1
        numbers.count += 1
        numbers.size += row[WEIGHT]
        self._stand_in_line(row)
        self.put(place_name(row[PLACE]), [code, seal])
        self.put(row_name(code), row)
        self._note_queued(code)

    def replace(self, code: bytes, old: Row, row: Row) -> None:
        """Gives a row other contents, at its place."""
        row[PLACE] = old[PLACE]
        self._numbers.size += row[WEIGHT] - old[WEIGHT]
        row[LINE] = old[LINE]
        if row[EXPIRES] is None or old[EXPIRES] is None or row[EXPIRES] < old[EXPIRES]:
            self._leave_line(row)
            self._stand_in_line(row)
        # Else it is found in time where it stands, and then stands in line again.
        self.put(row_name(code), row)
        if not row[MODE] & APART or row[VALUE] != old[VALUE]:
            self.drop_apart(old)

    def remove(self, code: bytes, row: Row) -> None:
        """Deletes a row."""
        self.erase(row_name(code))
        self.erase(place_name(row[PLACE]))
        self.drop_apart(row)
        self._numbers.count -= 1
        self._numbers.size -= row[WEIGHT]
        self._numbers.head += row[PLACE] == self._numbers.head
        self._leave_line(row)
        self._numbers.queued -= is_queued(code)

    def remove_place(self, number: int) -> bool:
        """Deletes the row at a place. False when there was none."""
        entry = self.place(number)
        if entry is None:
            return False
        row = self.row(entry[0])
        if row is None or row[PLACE] != number:
            # The host store gave the row up, or it was damaged.
            self.erase(place_name(number))
            self._numbers.count -= 1
            self._numbers.queued -= is_queued(entry[0])
            return False
        self.remove(entry[0], row)
        return True

    # What expires.

    def _stand_in_line(self, row: Row) -> None:
        expires = row[EXPIRES]
        if expires is None:
            return
        row[LINE] = self._lines.add(expires - timestamp(), expires)
        self.put(line_name(row[LINE]), [row[PLACE], expires])
        self._numbers.expiring += 1
        self._numbers.due = min(self._numbers.due, milliseconds(expires))

    def _leave_line(self, row: Row) -> None:
        if row[LINE] is None:
            return
        self._lines.leave(row[LINE])
        self.erase(line_name(row[LINE]))
        self._numbers.expiring -= 1
        row[LINE] = None

    def remove_expired(self, now: float, most: int, looks: int) -> int:
        """Deletes so many rows that have expired, after so many looks at most, and returns how many
        that were."""
        numbers = self._numbers
        removed = 0
        if numbers.expiring == 0 or numbers.due >= now * 1000:
            return 0
        for line in self._lines.due(now):
            while removed < most and looks > 0:
                first, after, due = self._lines.ends(line)
                if first == after or due >= now:
                    break
                looks -= 1
                at = first << 7 | line
                found = self.read(line_name(at))
                if found is None:
                    self._lines.set_ends(line, first + 1, after, -inf)
                elif found[1] >= now:
                    self._lines.set_ends(line, first, after, found[1])
                else:
                    removed += self._remove_first(at, found[0], now)
        numbers.due = self._lines.earliest()
        return removed

    def _remove_first(self, at: int, place: int, now: float) -> bool:
        entry = self.place(place)
        row = None if entry is None else self.row(entry[0])
        if row is None or row[PLACE] != place or row[LINE] != at:
            # The host store gave the row up, or it was damaged.
            self._lines.leave(at)
            self.erase(line_name(at))
            return False
        if row[EXPIRES] >= now:
            row = [*row]  # It was given more time.
            self._leave_line(row)
            self._stand_in_line(row)
            self.put(row_name(entry[0]), row)
            return False
        return self.remove_place(place)

    # The order of insertion.

    def places(self, ascending: bool = True) -> Iterator[int]:
        """The places that are taken, as they are now, in order. Some may be empty."""
        numbers = self.numbers
        if numbers.tail - numbers.head < 4 * numbers.count + 1000:
            span = range(numbers.head, numbers.tail + 1)
            return iter(span if ascending else reversed(span))
        found = [int.from_bytes(name[1:]) for name in self.names(b"o") if len(name) == 9]
        found = [number for number in found if numbers.head <= number <= numbers.tail]
        return iter(sorted(found, reverse=not ascending))

    def some_places(self) -> list[int]:
        """Some places that are taken, others each time."""
        names, self._cursor = self.data._keys_page(b"o", self._cursor or 0)
        found = [name.encode() if isinstance(name, str) else name for name in names]
        return [int.from_bytes(name[1:]) for name in found]

    def outermost(self, last: bool) -> int | None:
        """The first or the last place that is taken, within a block."""
        numbers = self._numbers
        for at in _walk(numbers.head, numbers.tail, last):
            if self.place(at) is not None:
                break
        else:
            many = numbers.tail - numbers.head >= HOLES
            found = next(
                (at for at in self.places(not last) if many and self.place(at) is not None), None
            )
            if found is None:
                numbers.head, numbers.tail = numbers.next, numbers.next - 1
                return None
            at = found
        if last:
            numbers.tail = at
        else:
            numbers.head = at
        return at

    # Queues: keys that are numbers, or a prefix and a number.

    def queue(self, prefix: str | None) -> tuple[int, int]:
        """Bounds of the keys of a queue; (0, 0) when it is empty."""
        if prefix is None:
            return self._numbers.front, self._numbers.back
        return tuple(self.read(b"q" + prefix.encode()) or (0, 0))

    def set_queue(self, prefix: str | None, front: int, back: int) -> None:
        """Narrows or widens the bounds."""
        if prefix is None:
            self._numbers.front, self._numbers.back = front, back
        elif front == 0:
            self.erase(b"q" + prefix.encode())
        else:
            self.put(b"q" + prefix.encode(), [front, back])

    def _note_queued(self, code: bytes) -> None:
        queued = queued_number(code)
        if queued is None:
            return
        prefix, number = queued
        self._numbers.queued += prefix is None
        front, back = self.queue(prefix)
        if front == 0:
            self.set_queue(prefix, number, number)
        elif not front <= number <= back:
            self.set_queue(prefix, min(front, number), max(back, number))

    def end_of_queue(self, prefix: str | None, back: bool, code: Callable[[int], bytes]) -> int:
        """The first or last number of a queue, or 0; `code` makes a key of a number."""
        least, most = self.queue(prefix)
        if least == 0:
            return 0
        found = 0
        for at in _walk(least, most, back):
            if self.row(code(at)) is not None:
                found = at
                break
        else:
            if most - least >= HOLES:
                found = (max if back else min)(self._queued(prefix), default=0)
        if found == 0:
            self.set_queue(prefix, 0, 0)
        elif back and found != most:
            self.set_queue(prefix, least, found)
        elif not back and found != least:
            self.set_queue(prefix, found, most)
        return found

    def _queued(self, prefix: str | None) -> Iterator[int]:
        for name in self.names(b"r"):
            queued = queued_number(name[1:])
            if queued is not None and queued[0] == prefix:
                yield queued[1]

    # Mending.

    def mend(self) -> None:
        """Makes order, rows and numbers agree again: finishes a transaction whose process was
        killed, drops what refers to nothing, and counts. Looks at every row."""
        self.control.begin()
        self._pending = {}
        redo = self.data.get(REDO)
        if redo is not None:
            self._apply((name, _GONE if value is None else value) for name, value in redo)
        old = self.control.read()
        rows: dict[bytes, Row] = {}
        kept = set()
        for name in list(self.names(b"r")):
            row = self._sound(name)
            if row is not None:
                rows[name] = row
        numbers = Numbers()
        numbers.hits, numbers.misses = max(old.hits, 0), max(old.misses, 0)
        found = set()
        last = 0
        for name in list(self.names(b"o")):
            entry = self._readable(name)
            place = int.from_bytes(name[1:])
            last = max(last, place)
            owner = rows.get(row_name(entry[0])) if isinstance(entry, list) else None
            if owner is None or owner[PLACE] != place:
                self.data.delete(name)
                continue
            found.add(row_name(entry[0]))
            numbers.count += 1
            numbers.size += owner[WEIGHT]
            numbers.head = min(numbers.head, place) if numbers.count > 1 else place
            numbers.tail = max(numbers.tail, place)
        for name in list(self.names(b"q")):
            self.data.delete(name)
        self._numbers = numbers
        for name, row in rows.items():
            if name not in found:
                self.data.delete(name)
                continue
            if row[MODE] & APART:
                kept.add(row[VALUE])
            self._note_queued(name[1:])
        self._mend_lines({name: rows[name] for name in found})
        self._apply(self._pending.items())
        self._pending = {}
        for name in list(self.names(b"v")):
            if name not in kept:
                self.data.delete(name)
        numbers.next = max(last, old.next - 1, 0) + 1
        if numbers.count == 0:
            numbers.head, numbers.tail = numbers.next, numbers.next - 1
        self.control.write(numbers)
        self._lines.write()
        self._lines.begin()
        if redo is not None:
            self.data.delete(REDO)
        self.control.end()

    def _mend_lines(self, rows: dict[bytes, Row]) -> None:
        self._lines.reset()
        self._numbers.due = 0
        stands = {}
        for name in list(self.names(b"e")):
            entry = self._readable(name)
            if isinstance(entry, list):
                stands[int.from_bytes(name[1:])] = entry[0]
            else:
                self.data.delete(name)
        astray = []
        for name, row in rows.items():
            if row[EXPIRES] is not None and stands.get(row[LINE]) == row[PLACE]:
                self._lines.keep(row[LINE])
                self._numbers.expiring += 1
                del stands[row[LINE]]
            elif row[EXPIRES] is not None or row[LINE] is not None:
                astray.append((name, row))
        for at in stands:
            self.data.delete(line_name(at))
        for name, row in astray:
            row[LINE] = None
            self._stand_in_line(row)
            self.put(name, row)

    def _readable(self, name: bytes) -> Any:
        try:
            return self.data.get(name)
        except PolycacheError:
            return None

    def _sound(self, name: bytes) -> Row | None:
        row = self._readable(name)
        if not isinstance(row, list) or len(row) != LINE + 1:
            self.data.delete(name)
            return None
        if row[MODE] & APART and not self.data.has(row[VALUE]):
            self.data.delete(name)
            return None
        return row

    @property
    def space(self) -> int:
        """Bytes that the host store may take: its limit, or less on a nearly full disk."""
        return space(self._folder, self.limit)

    def check_room(self) -> None:
        """Raises `NoSpace` before the host store would begin to evict."""
        if (found := self.space) < self.limit and self._numbers.size > found * 6 // 10:
            raise NoSpace(
                "the disk is nearly full, and the cache keeps what it holds. Delete something, or "
                "make room on the disk"
            )
        if self._numbers.size > (self.limit - OWN_BYTES) * 7 // 10:
            raise NoSpace(
                "the cache holds as much as its directory can: its limit was fixed when it was "
                "made. Delete something, or move to a directory with a larger size_limit"
            )


def row_name(code: bytes) -> bytes:
    """The name of a key's row. Long keys have that of their hash."""
    return b"r" + code if len(code) <= LONGEST_KEY else b"rh" + sha256(code).digest()


def place_name(number: int) -> bytes:
    """The name of a place."""
    return b"o" + number.to_bytes(8)


def queued_number(code: bytes) -> tuple[str | None, int] | None:
    """The queue that a key belongs to, by its prefix, and its number in it."""
    if code[:1] == b"i":
        number = key_of(code)
        return (None, number) if 0 < number < QUEUED - 1 else None
    if code[:1] == b"s" and code[-16:-15] == b"-" and code[-15:].isdigit():
        number = int(code[-15:])
        # What is longer has a hash for a name, in which no number can be read.
        if 0 < number < QUEUED - 1 and len(code) <= LONGEST_KEY:
            return code[1:-16].decode(), number
    return None


def is_queued(code: bytes) -> bool:
    """Whether a key is of the queue without a prefix."""
    return code[:1] == b"i" and queued_number(code) is not None


def _walk(least: int, most: int, down: bool) -> Iterable[int]:
    """From one end towards the other, but not for ever."""
    if down:
        return range(most, max(least - 1, most - HOLES), -1)
    return range(least, min(most + 1, least + HOLES))
