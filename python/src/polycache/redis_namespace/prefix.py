"""What stands before every key of a namespace, and how it is put on and taken off again."""

import re
from collections.abc import Sequence
from typing import Any, AnyStr, Generic

from ..errors import InvalidArgument, InvalidNamespace

# How channels of notifications begin, those of events, and where the server tells a connection of
# keys that changed.
_WORDS = ("__key", "__keyevent@", "__redis__:invalidate")
_WORDS_BYTES = (b"__key", b"__keyevent@", b"__redis__:invalidate")
_GLOB = re.compile(r"([*?\[\]\\])")
_KEYSPACE = re.compile(r"(__keyspace@[^_]*__:)(.*)", re.S)
_KEYSPACE_BYTES = re.compile(rb"(__keyspace@[^_]*__:)(.*)", re.S)


class Side(Generic[AnyStr]):
    """A prefix as text, or as bytes, and the words that it is compared with."""

    __slots__ = ("event", "invalidate", "keyspace", "notice", "pattern", "text")

    def __init__(
        self, text: AnyStr, pattern: AnyStr, keyspace: re.Pattern[AnyStr], words: tuple[AnyStr, ...]
    ) -> None:
        self.text: AnyStr = text
        self.pattern: AnyStr = pattern
        self.keyspace: re.Pattern[AnyStr] = keyspace
        self.notice: AnyStr
        self.event: AnyStr
        self.invalidate: AnyStr
        self.notice, self.event, self.invalidate = words

    def notification(self, name: AnyStr, prefix: AnyStr) -> AnyStr | None:
        """The channel of notifications of this namespace's keys; None for any other channel."""
        if not name.startswith(self.notice):
            return None
        if name.startswith(self.event):
            return name
        if match := self.keyspace.fullmatch(name):
            return match[1] + prefix + match[2]
        raise InvalidArgument(
            "a channel of notifications begins with __keyspace@<db>__: or __keyevent@<db>__:, "
            f"and {name!r} may be both"
        )

    def strip_notification(self, name: AnyStr, prefix: AnyStr) -> AnyStr | None:
        """The channel as its subscriber gave it; None when it is no such channel."""
        if not name.startswith(self.notice):
            return None
        if name.startswith(self.event):
            return name
        match = self.keyspace.fullmatch(name)
        return match[1] + match[2][len(prefix) :] if match and match[2].startswith(prefix) else None


SEPARATOR = ":"
"""What stands behind a namespace, unless it is said otherwise."""


class Prefix:
    """A namespace with its separator.

    A word may be anything that a client takes for one; what is neither text nor bytes becomes what
    the client would have sent. `encoding` is the one in which the client sends text.
    """

    __slots__ = ("_bytes", "_text", "namespace", "raw", "text")

    def __init__(self, namespace: str, encoding: str = "utf-8", separator: str = SEPARATOR) -> None:
        self.namespace = namespace
        self.text = namespace + separator
        try:
            self.raw = self.text.encode(encoding)
            pattern = _GLOB.sub(r"\\\1", self.text)
            self._bytes = Side(self.raw, pattern.encode(encoding), _KEYSPACE_BYTES, _WORDS_BYTES)
        except UnicodeEncodeError as why:
            raise InvalidArgument(f"the namespace {namespace!r} is not text in {encoding}") from why
        self._text = Side(self.text, pattern, _KEYSPACE, _WORDS)

    def __repr__(self) -> str:
        return f"Prefix({self.text!r})"

    def key(self, name: Any) -> str | bytes:
        if type(name) is str:
            return self.text + name
        if type(name) is bytes:
            return self.raw + name
        word = plain(name)
        return self.text + word if isinstance(word, str) else self.raw + word

    prefix = key

    def keys(self, names: Sequence[Any]) -> list[str | bytes]:
        try:
            # All are text, as a rule.
            text = self.text
            return [text + name for name in names]
        except TypeError:
            return [self.key(name) for name in names]

    def pattern(self, glob: Any) -> str | bytes:
        if type(glob) is str:
            return self._text.pattern + glob
        word = plain(glob)
        return self._text.pattern + word if isinstance(word, str) else self._bytes.pattern + word

    def channel(self, name: Any) -> str | bytes:
        word = plain(name)
        if isinstance(word, str):
            return self._channel(self._text, word)
        return self._channel(self._bytes, word)

    def publish(self, name: Any) -> str | bytes:
        """A channel that is published to. What the server itself tells there reaches every
        namespace, and so would this."""
        if not self.is_event(word := plain(name)) and not self.is_invalidate(word):
            return self.channel(word)
        raise InvalidArgument(
            f"every namespace hears what is published to {word!r}, where the server tells of keys; "
            "choose another channel"
        )

    def channel_pattern(self, glob: Any) -> str | bytes:
        word = plain(glob)
        if isinstance(word, str):
            return self._text.notification(word, self._text.pattern) or self.pattern(word)
        return self._bytes.notification(word, self._bytes.pattern) or self.pattern(word)

    def by(self, pattern: Any) -> str | bytes:
        """A pattern of SORT's BY."""
        word = plain(pattern)
        star = "*" in word if isinstance(word, str) else b"*" in word
        return self._sort_pattern(word) if star else word

    def get(self, pattern: Any) -> str | bytes:
        """A pattern of SORT's GET."""
        word = plain(pattern)
        return word if word in ("#", b"#") else self._sort_pattern(word)

    def of(self, name: Any) -> bool:
        """Whether the name is of this namespace."""
        if isinstance(name, bytes):
            return name.startswith(self.raw)
        return isinstance(name, str) and name.startswith(self.text)

    def strip(self, name: Any) -> Any:
        """The name without the prefix, and one of another namespace as it is."""
        if isinstance(name, bytes):
            return name.removeprefix(self.raw)
        return name.removeprefix(self.text) if isinstance(name, str) else name

    def strip_all(self, names: list[Any]) -> list[Any]:
        """The names without the prefix."""
        prefix = self.raw if names and type(names[0]) is bytes else self.text
        try:
            return [name.removeprefix(prefix) for name in names]
        except (AttributeError, TypeError):
            # They are of several types.
            return [self.strip(name) for name in names]

    def strip_channel(self, name: Any) -> Any:
        """The name of a channel as its subscriber gave it."""
        if isinstance(name, str):
            told: Any = self._text.strip_notification(name, self.text)
        elif isinstance(name, bytes):
            told = self._bytes.strip_notification(name, self.raw)
        else:
            return name
        return self.strip(name) if told is None else told

    def strip_channel_pattern(self, glob: Any) -> Any:
        """The pattern of channels as its subscriber gave it."""
        if isinstance(glob, str):
            return _strip_pattern(self._text, glob)
        return _strip_pattern(self._bytes, glob) if isinstance(glob, bytes) else glob

    def is_event(self, channel: Any) -> bool:
        """Whether the channel's messages name keys."""
        if isinstance(channel, bytes):
            return channel.startswith(self._bytes.event)
        return isinstance(channel, str) and channel.startswith(self._text.event)

    def is_invalidate(self, channel: Any) -> bool:
        """Whether the server tells a connection there of keys that changed."""
        return channel in (self._text.invalidate, self._bytes.invalidate)

    def _channel(self, side: Side[AnyStr], name: AnyStr) -> AnyStr:
        if name == side.invalidate:
            return name
        return side.notification(name, side.text) or side.text + name

    # SORT puts an element where a pattern's first asterisk stands, whatever is before it.
    def _sort_pattern(self, pattern: str | bytes) -> str | bytes:
        if "*" not in self.text:
            return self.key(pattern)
        raise InvalidNamespace(
            f"SORT's BY and GET cannot be used in the namespace {self.namespace!r}: "
            "its asterisk would be taken for the element"
        )


def _strip_pattern(side: Side[AnyStr], glob: AnyStr) -> AnyStr:
    told = side.strip_notification(glob, side.pattern)
    if told is not None:
        return told
    return glob[len(side.pattern) :] if glob.startswith(side.pattern) else glob


def plain(word: Any) -> str | bytes:
    """The word as text or bytes, the same that redis-py would send.

    Raises InvalidArgument for what it would not send, before anything is.
    """
    if isinstance(word, (str, bytes)):
        return word
    if isinstance(word, (bytearray, memoryview)):
        return bytes(word)
    if isinstance(word, (int, float)) and not isinstance(word, bool):
        return repr(word)
    raise InvalidArgument(
        f"a key is str, bytes, memoryview, int or float, not {type(word).__name__}"
    )
