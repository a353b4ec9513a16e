"""Where keys, patterns and channels stand among a command's words (spec/commands.md).

Each rule rewrites a list of words in place.
"""

import math
from collections.abc import Callable
from typing import Any, Protocol

from ..errors import InvalidArgument
from .prefix import Prefix

Words = list[Any]
Rewrite = Callable[[Prefix, Any], str | bytes]

KINDS: dict[str, Rewrite] = {
    "key": Prefix.key,
    "prefix": Prefix.prefix,
    "pattern": Prefix.pattern,
    "channel": Prefix.channel,
    "publish": Prefix.publish,
    "channel-pattern": Prefix.channel_pattern,
    "by": Prefix.by,
    "get": Prefix.get,
}


class Rule(Protocol):
    def apply(self, words: Words, prefix: Prefix) -> None: ...


def build(rule: list[Any]) -> Rule:
    """A rule of spec/commands.json."""
    try:
        kind, *rest = rule
        if kind == "numkeys":
            return Numkeys(*rest)
        if kind == "options":
            return Options(*rest)
        if kind == "options-or-key":
            first, words, otherwise = rest
            return Options(first, words, _position(otherwise))
        return Range(kind, *rest)
    except (TypeError, ValueError, KeyError, AttributeError) as why:
        raise InvalidArgument(f"{rule!r} is not a rule of spec/commands.md") from why


def _position(value: Any, start: float = 1) -> int:
    """A number of a rule: 0 is the command's name, which is never rewritten, and no step."""
    if type(value) is int and value >= start:
        return value
    raise ValueError(value)


def upper(word: Any) -> str | None:
    """The word in upper case, if it can be a name or an option."""
    if isinstance(word, (bytearray, memoryview)):
        word = bytes(word)
    if isinstance(word, bytes):
        return word.decode().upper() if word.isascii() else None
    # Upper case of other letters may be one of these: of a dotless i, for example.
    return word.upper() if isinstance(word, str) and word.isascii() else None


class Range:
    """Words from `first` to `last`, every `step`-th. `last` below 0 counts from the end."""

    def __init__(self, kind: str, first: int, last: int, step: int) -> None:
        self.rewrite = KINDS[kind]
        self._first, self._step = _position(first), _position(step)
        self._last = _position(last, -math.inf)
        self.keys = kind == "key"
        """Whether all that it names are keys."""
        self.first = first == last == 1
        """Whether it names the word in the first place and no other."""
        self.first_key = self.keys and self.first
        self.all_keys = self.keys and (first, last, step) == (1, -1, 1)
        """Whether it names all words as keys."""

    def apply(self, words: Words, prefix: Prefix) -> None:
        size = len(words)
        last = size + self._last if self._last < 0 else min(self._last, size - 1)
        if self.keys:
            places = slice(self._first, max(last + 1, 0), self._step)
            words[places] = prefix.keys(words[places])
            return
        for at in range(self._first, last + 1, self._step):
            words[at] = self.rewrite(prefix, words[at])


class Numkeys:
    """As many words from `first` as the number at `at` says."""

    def __init__(self, at: int, first: int) -> None:
        self._at, self._first = _position(at), _position(first)

    def apply(self, words: Words, prefix: Prefix) -> None:
        if self._at >= len(words):
            return
        last = min(self._first + count(words[self._at]), len(words))
        for at in range(self._first, last):
            words[at] = prefix.key(words[at])


def count(number: Any) -> int:
    """The number of keys, from any word that the server would take for one."""
    if type(number) is int and number >= 0:
        return number
    text = number if isinstance(number, str) else upper(number)
    if text is not None and text.isascii() and text.isdigit():
        return int(text)
    raise InvalidArgument(f"the number of keys is not a number from 0 on: {number!r}")


class Options:
    """Options in any order, walked one by one; and a key at `otherwise` where none of them was
    followed by keys."""

    def __init__(self, first: int, words: dict[str, Any], otherwise: int | None = None) -> None:
        self._first = _position(first)
        self._otherwise = otherwise
        self._arguments: dict[str, str | list[Rewrite | None]] = {
            word.upper(): _followers(kinds) for word, kinds in words.items()
        }
        self._longest = max(map(len, words), default=0)

    def apply(self, words: Words, prefix: Prefix) -> None:
        named = self._walk(words, prefix)
        if self._otherwise is not None and not named and self._otherwise < len(words):
            words[self._otherwise] = prefix.key(words[self._otherwise])

    # Whether an option was followed by keys.
    def _walk(self, words: Words, prefix: Prefix) -> bool:
        at = self._first
        while at < len(words):
            arguments = self._arguments_of(words[at])
            at += 1
            if isinstance(arguments, str):
                _rest(arguments, words, at, prefix)
                return True
            for rewrite in arguments or ():
                if rewrite and at < len(words):
                    words[at] = rewrite(prefix, words[at])
                at += 1
        return False

    def _arguments_of(self, word: Any) -> str | list[Rewrite | None] | None:
        # A longer word is a value, maybe a large one.
        if not isinstance(word, (str, bytes, bytearray, memoryview)) or len(word) > self._longest:
            return None
        return self._arguments.get(upper(word) or "")


def _followers(kinds: Any) -> str | list[Rewrite | None]:
    if not isinstance(kinds, str):
        return [None if kind == 0 else KINDS[kind] for kind in kinds]
    if kinds in ("keys", "streams"):
        return kinds
    raise ValueError(kinds)


def _rest(which: str, words: Words, at: int, prefix: Prefix) -> None:
    """`keys`: all that follow. `streams`: the first half of them, the others are ids."""
    size = len(words) - at
    if which == "streams":
        size //= 2
    for place in range(at, at + size):
        words[place] = prefix.key(words[place])
