"""Keys and values as rows, and back."""

from typing import Any, cast

from ..errors import InvalidKey, UnsupportedValue
from .clock import timestamp
from .constants import ENOVAL, EVICTION_POLICY, MODE_PICKLE, MODE_TYPED
from .disk_space import taken
from .errors import InvalidSeal, PickleNeeded
from .handle import Handle
from .keys import compound_code, key_of, raw_code
from .pickling import KEY, refused, value_of
from .plain import own, plain_tag
from .store import (
    ACCESSED,
    APART,
    EXPIRES,
    LARGE,
    LONGEST_KEY,
    MODE,
    USES,
    VALUE,
    WEIGHT,
    Row,
    Store,
)

OVERHEAD = 400
"""Bytes that a row takes beside its key and value: two records and their words in the index."""

OVERHEAD_OF_LARGE = 1000
"""The same where the host store counts by units of 256 bytes."""
SMALL_UNITS = 2**36
"""The largest limit whose units are of 16 bytes."""


class Rows(Handle):
    """Makes rows of keys and values."""

    def _code(self, key: Any) -> tuple[bytes, bytes | None]:
        """The key as bytes, with the seal of a pickled one."""
        if self._is_plain:
            code = raw_code(key)
            if code is not None:
                return code, None
            if self._pickling is None:
                return compound_code(key), None
        return self._stored_code(*self._disk.put(key))

    def _stored_code(self, stored: Any, raw: bool) -> tuple[bytes, bytes | None]:
        """As `_code`, for what the disk has made of a key."""
        if raw:
            code = raw_code(stored)
            if code is None:
                raise InvalidKey(f"Disk.put made {type(stored).__name__} of a key, as itself")
            return code, None
        if stored[:1] == b"p" and self._pickling is not None:
            return stored, self._pickling.seal(stored, KEY)
        return stored, None

    def _key(self, code: bytes, seal: Any) -> Any:
        """The key of its bytes."""
        if code[:1] == b"p":
            if self._pickling is None:
                raise refused("the key was pickled")
            if not self._pickling.is_sealed(code, seal, KEY):
                raise InvalidSeal(
                    "the pickled key was not sealed with this pickle_secret, or was changed "
                    "since; it was not loaded"
                )
            return self._disk.get(code, False)
        if self._is_plain:
            return key_of(code)
        if code[:1] == b"c":
            return self._disk.get(code, False)
        return self._disk.get(key_of(code), True)

    def _row(
        self,
        code: bytes,
        key: Any,
        value: Any,
        read: bool,
        now: float,
        expires: float | None,
        tag: Any,
    ) -> Row:
        size, mode, _, stored = self._disk.store(value, read, key=key)
        return self._row_of(code, mode, stored, size, now, expires, tag)

    def _row_of(
        self,
        code: bytes,
        mode: int,
        stored: Any,
        size: int,
        now: float,
        expires: float | None,
        tag: Any,
    ) -> Row:
        if mode == MODE_PICKLE:
            if self._pickling is None:
                raise refused("the value can only be pickled")
            stored = self._pickling.sealed(stored, value_of(code))
        tag = plain_tag(tag)
        if mode == MODE_TYPED:
            size_of_value = self._weight_of(stored)
            # It is written when the block ends, and the caller may change it before.
            stored = own(stored)
        else:
            size_of_value = _text_weight(stored)
            self._refuse_unstorable(stored)
        self._refuse_unstorable(tag)
        size_of_row = _text_weight(tag)
        weight = OVERHEAD if self._opened().limit <= SMALL_UNITS else OVERHEAD_OF_LARGE
        if size_of_value > LARGE:
            mode |= APART
            weight += self._taken(size_of_value)
        else:
            size_of_row += size_of_value
        if len(code) <= LONGEST_KEY:
            weight += 2 * len(code)  # It is in the names of the row and in the order.
        else:
            weight += self._taken(len(code))
        weight += self._taken(size_of_row)
        return [0, mode, stored, expires, tag, now, now, 0, weight, size, None]

    def _taken(self, size: int) -> int:
        """Bytes of the directory that so many bytes of a record take."""
        return size if size <= LARGE else taken(size, self._opened().limit)

    def _refuse_unstorable(self, value: Any) -> None:
        """Raises here what would be raised when the block ends, after the mark of `Control` was
        set: the next writer would then look at every row."""
        kind = type(value)
        if kind is bytes or kind is float or kind is int or value is None:
            return
        if kind is not str or not value.isascii():
            self._opened().meta._encode_arguments([value])

    def _weight_of(self, value: Any) -> int:
        """How many bytes the value takes, which the type map must have."""
        if value is None or value is True or value is False:
            return 1
        try:
            return len(self._opened().meta._encode_arguments([value]))
        except UnsupportedValue as error:
            # The list is ours.
            why, path = (text.replace("$[0]", "$", 1) for text in (str(error), error.path))
            raise PickleNeeded(str(refused(why)), path) from None

    def _put(self, store: Store, code: bytes, seal: bytes | None, row: Row) -> None:
        if row[MODE] & APART:
            row[VALUE] = store.put_apart(row[VALUE], row[WEIGHT])
        old = store.row(code)
        if old is None:
            store.insert(code, seal, row)
        else:
            store.replace(code, old, row)

    def _use(self, row: Row, now: float) -> bool:
        """Notes a use as the policy wants it."""
        by = EVICTION_POLICY[self.eviction_policy]
        if by == "access_time":
            row[ACCESSED] = now
        elif by == "access_count":
            row[USES] += 1
        return by in ("access_time", "access_count")

    def _found(self, store: Store, code: bytes, read: bool) -> tuple[Row | None, Any]:
        while True:
            row = store.row(code)
            if row is None:
                return None, None
            expires = row[EXPIRES]
            if expires is not None and expires <= timestamp():
                return None, None
            raw = self._unsealed(store, code, row)
            if raw is not ENOVAL:
                return row, self._loaded(row, raw, read)
            # The value was replaced meanwhile, or the host store lost it.
            again = store.row(code)
            if again is not None and again[VALUE] == row[VALUE]:
                return None, None

    def _unsealed(self, store: Store, code: bytes, row: Row) -> Any:
        """What is stored for a row's value, with a right seal, or ENOVAL; within the block that
        removes the row. A caller without the secret removes nothing."""
        mode = row[MODE]
        value = store.value(row)
        if mode & APART:
            if value is None:
                return ENOVAL
            mode ^= APART
        if mode == MODE_PICKLE:
            if self._pickling is None:
                raise refused("the value was pickled")
            return self._pickling.opened(value, value_of(code))
        if mode == MODE_TYPED and store.is_mine():
            return own(value)  # Another than the one that waits to be written.
        return value

    def _loaded(self, row: Row, raw: Any, read: bool) -> Any:
        """The value of what `_unsealed` has found. It may raise anything: that of a class that has
        changed, or of the program's own disk. Whoever takes the value does this after the block,
        or the row would be there again, and in the way of all that are behind it."""
        mode = row[MODE] & ~APART
        if self._is_plain and not read and mode != MODE_PICKLE:
            return raw
        return self._disk.fetch(mode, None, raw, read)


def _text_weight(value: Any) -> int:
    """Bytes that text or bytes take. Four for a character at most; most have one."""
    if isinstance(value, str):
        return len(value) if value.isascii() else 4 * len(value)
    return len(value) if isinstance(value, bytes) else 0


def lives(row: Row, now: float) -> bool:
    """Whether a row has not expired."""
    expires = row[EXPIRES]
    return expires is None or bool(expires > now)


def asked_for(
    value: Any, expires: float | None, tag: Any, wants_time: bool, wants_tag: bool
) -> Any:
    """The value, with what else the caller asked for."""
    if wants_time and wants_tag:
        return value, expires, tag
    if wants_time:
        return value, expires
    return (value, tag) if wants_tag else value


def code_of(key: Any) -> bytes:
    """The bytes of a key that is a number or text."""
    return cast(bytes, raw_code(key))
