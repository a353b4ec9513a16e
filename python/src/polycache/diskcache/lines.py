"""What expires first: rows stand in lines, by how long they live.

A line has the rows that live about equally long, in the order in which they were queued. So the
one that expires first is at its front, or a quarter of its time at most behind one that still
lives. The ends of the lines are in the page of `Control`; who stands in one is in entries of the
host store.
"""

import mmap
import struct
from math import inf, log

LINES = 112
"""The last one is for 20 years and more."""
_SHORTEST = 0.01
_RATIO = 1.25
_LONGEST = _SHORTEST * _RATIO**LINES
_FIRST, _AFTER, _DUE = 1024, 2048, 3072
"""Where in the page there is, for all lines, the number of the first one, that after the last, and
when the first expires."""
_NUMBER = struct.Struct("<q")
_TIME = struct.Struct("<d")
_TIMES = struct.Struct(f"<{LINES}d")
NEVER = 2**62
"""In milliseconds."""


class Lines:
    """The ends of the lines, as a block changes them."""

    def __init__(self, page: mmap.mmap) -> None:
        self._page = page
        self._ends: dict[int, tuple[int, int, float]] = {}

    def begin(self) -> None:
        """Forgets what a block has changed."""
        self._ends = {}

    def write(self) -> None:
        """Puts what has changed into the page."""
        for line, (first, after, due) in self._ends.items():
            _NUMBER.pack_into(self._page, _FIRST + 8 * line, first)
            _NUMBER.pack_into(self._page, _AFTER + 8 * line, after)
            _TIME.pack_into(self._page, _DUE + 8 * line, due)

    @property
    def has_changed(self) -> bool:
        """Whether there is something to write."""
        return bool(self._ends)

    def reset(self) -> None:
        """Empties all lines."""
        self._ends = dict.fromkeys(range(LINES), (0, 0, inf))

    def ends(self, line: int) -> tuple[int, int, float]:
        """The number of the first one, that after the last, and when the first expires: in the past
        when that is not known, `inf` for an empty line."""
        found = self._ends.get(line)
        if found is None:
            at = 8 * line
            found = (
                _NUMBER.unpack_from(self._page, _FIRST + at)[0],
                _NUMBER.unpack_from(self._page, _AFTER + at)[0],
                _TIME.unpack_from(self._page, _DUE + at)[0],
            )
        return found

    def set_ends(self, line: int, first: int, after: int, due: float) -> None:
        """Changes them."""
        self._ends[line] = (first, after, due if first < after else inf)

    def add(self, lives: float, expires: float) -> int:
        """A place at the end of the line of what lives so many seconds."""
        # In this order, so that what is no number counts as the shortest.
        seconds = min(_LONGEST, max(_SHORTEST, lives))
        line = min(int(log(seconds / _SHORTEST, _RATIO)), LINES - 1)
        first, after, due = self.ends(line)
        self.set_ends(line, first, after + 1, due if first < after else expires)
        return after << 7 | line

    def leave(self, at: int) -> None:
        """Gives a place up. One amidst the line stays empty."""
        number, line = at >> 7, at & 127
        first, after, due = self.ends(line)
        if number == first:
            self.set_ends(line, first + 1, after, -inf)
        elif number == after - 1:
            self.set_ends(line, first, number, due)

    def keep(self, at: int) -> None:
        """Widens the line to a place that was found in the host store."""
        number, line = at >> 7, at & 127
        first, after, _ = self.ends(line)
        if first == after:
            first = after = number
        self.set_ends(line, min(first, number), max(after, number + 1), -inf)

    def due(self, now: float) -> list[int]:
        """The lines whose first one may have expired, the earliest one first."""
        found = [(time, line) for line, time in enumerate(self._times()) if not time >= now]
        return [line for _, line in sorted(found)]

    def earliest(self) -> int:
        """When the next one may expire, in milliseconds."""
        return milliseconds(min(self._times()))

    def _times(self) -> list[float]:
        times = list(_TIMES.unpack_from(self._page, _DUE))
        for line, (_, _, due) in self._ends.items():
            times[line] = due
        return times


def milliseconds(time: float) -> int:
    """Whole ones, before the time; `NEVER` at most."""
    return NEVER if time >= 1e15 else int(max(-1e15, time) * 1000) - 1


def line_name(at: int) -> bytes:
    """The name of what stands at a place of a line."""
    return b"e" + at.to_bytes(9)
