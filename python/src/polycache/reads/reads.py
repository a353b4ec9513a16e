"""What cached reads with and without asyncio have in common."""

import os
import secrets
import threading
import time
import weakref
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

from .. import _native
from ..cache import Cache
from ..durations import Duration
from ..errors import Closed, InvalidArgument
from ..http.representation import Representation
from .expiry import expiry_of, questions
from .kept import KeptReplies, pack, unpack
from .landed import Landed
from .name import call_of, name_of
from .plan import MOST_KEYS, Plan, is_read, plan_of, refusal
from .stats import WHYS, ReadStats
from .way import RAW, Prepared, as_text
from .ways import way_of

_OPTIONS = frozenset(("path", "limit", "max_staleness", "timeout", "prefix", "prefixes", "memory"))
_LATEST = 1.0
"""Seconds after which no caller joins a read that was begun."""
_GENERAL = "execute_command"


class Read(NamedTuple):
    """A read, ready to be sent."""

    call: object
    prepared: Prepared
    plan: Plan
    keys: list[bytes]
    name: bytes
    is_keepable: bool
    """Or a random one: what the client makes of the reply cannot be told from what others make."""


class Sent(NamedTuple):
    """What a pipeline was given, in this order."""

    before: int
    asks: bool
    at: int
    """Milliseconds since 1970."""


# Seconds for which a caller waits for another's read before it reads by itself.
PATIENCE = 1.0


class Reads:
    """The state of one object of `cached`."""

    def __init__(self, client: Any, options: dict[str, Any]) -> None:
        unknown = sorted(set(options) - _OPTIONS)
        if unknown:
            raise InvalidArgument(
                f"unknown option {unknown[0]!r}; cached has {', '.join(sorted(_OPTIONS))}"
            )
        self.way = way_of(client)
        options = {name: one for name, one in options.items() if one is not None}
        self._prefixes: Sequence[Any] = _prefixes(options.pop("prefixes", ("",)))
        memory = options.pop("memory", {})
        if not isinstance(memory, dict):
            raise InvalidArgument("memory is a dict with the bounds of what is kept in memory")
        self.joins_within = _joins_within(options.get("max_staleness", "1s"))
        self._cache = Cache(**options, memory=False, remote=self.way.client)
        try:
            fixed = all(one.fixed for one in self.way.rewriters)
            heard = [self.way.key(prefix) for prefix in self._prefixes] if fixed else [b""]
            self._heard = heard if fixed else None
            self.native = _native.Reads(self._cache, heard)
            self.kept = KeptReplies(self.native, memory)
        except BaseException:
            self._cache.close()
            raise
        self.stats = ReadStats()
        self.lock = threading.Lock()
        self.flights: dict[object, Any] = {}
        self._others: dict[str, tuple[str, ...]] = {}
        """Commands that methods send beside those of their names."""
        self._closed = False
        _EVERY.add(self)

    def method(self, name: str) -> bool:
        """Whether the client has such a method, and it reads.

        Raises UncacheableRead for its other methods, and AttributeError for what is none.
        """
        if name.startswith("_") or not self.way.has(name):
            raise AttributeError(f"cached reads have no attribute {name!r}")
        return name == _GENERAL or is_read(name.upper())

    def call(self, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> object | None:
        made: object = self.way.callback_name(_command(method, args))
        if (others := self._others.get(method)) is not None:
            made = (made, *map(self.way.callback_name, others))
        return call_of((self.way.space(), made), method, args, options)

    def read(
        self, call: object | None, method: str, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Read:
        """Raises UncacheableRead, and InvalidArgument for a key outside the prefixes."""
        if self._closed:
            raise Closed("the cached reads were closed; open others")
        prepared = self.way.prepare(method, args, options)
        plan = plan_of(prepared.words)
        if plan.is_document and self.way.decodes(prepared.words[0]):
            plan = plan._replace(is_document=False)
        encoded = self.way.encoded
        keys = [encoded(key) for key in plan.keys]
        self.way.check_keys(prepared.words[0], keys)
        self._check_prefixes(keys)
        shape = self.way.shape(method, prepared.words, prepared.options)
        unique = secrets.token_hex(16) if shape is None else shape
        name = name_of(unique, keys, map(encoded, prepared.words))
        if call is None or self._learns(method, args, as_text(prepared.words[0])):
            # The call lacks the callback of this command.
            call = name
        is_keepable = shape is not None and len(keys) <= MOST_KEYS
        return Read(call, prepared, plan, keys, name, is_keepable)

    def _learns(self, method: str, args: tuple[Any, ...], command: str) -> bool:
        """Whether a method sends another command than was known: ZRANGE may send ZREVRANGE."""
        others = self._others.get(method, ())
        if command in others or command.upper() == as_text(_command(method, args)).upper():
            return False
        self._others[method] = (*others, command)
        return True

    def may_keep(self, read: Read, *, knows: bool) -> bool:
        """Whether its reply may be kept at all; counts those that may not.

        knows: whether the server answers the cache.
        """
        if read.is_keepable and knows:
            return True
        self.count(1 if read.is_keepable else 4)
        return False

    def near(self, read: Read) -> tuple[bytes, _native.ReadOrigin] | None:
        """The reply that this host has."""
        return self.native.near(read.name, read.keys)

    def pipeline(self, read: Read, ticket: _native.ReadTicket | None) -> tuple[Any, Sent]:
        """All that goes in one round trip, in this order: spec/reads.md, "A read"."""
        self.stats.sent += 1
        before = questions(read.plan) if ticket is not None and ticket.why == 0 else []
        pipe = self.way.pipeline(read.prepared, read.keys[0], len(before))
        for words in before:
            pipe.execute_command(*words, **RAW)
        pipe.execute_command(*read.prepared.words, **read.prepared.options)
        asks = ticket.asks if ticket is not None else None
        if asks is not None:
            pipe.execute_command(b"GETEX", asks, **RAW)
        return pipe, Sent(len(before), asks is not None, time.time_ns() // 1_000_000)

    def ended(
        self, read: Read, ticket: _native.ReadTicket, sent: Sent, replies: Sequence[Any]
    ) -> Landed:
        """Keeps the reply of a read if it may."""
        reply = replies[sent.before]
        if isinstance(reply, Exception):
            self.native.fail(read.name, read.keys, ticket)
            raise reply
        proof = replies[sent.before + 1] if sent.asks else None
        answer = proof if isinstance(proof, bytes) else None
        packed = pack(reply)
        expires = expiry_of(read.plan, replies[: sent.before], sent.at)
        why = ticket.why
        keeps = packed if why == 0 and expires is not None else None
        is_kept = self.native.fill(read.name, read.keys, ticket, answer, keeps, expires or 0)
        if why == 0 and not is_kept:
            why = 4
        self.count(why)
        isolated = self.kept.isolate(reply, packed)
        if is_kept and packed is not None:
            found = self.near(read)
            if found is not None and found[0] == packed:
                self.kept.put(read.call, isolated, found[1], len(packed))
        return Landed(isolated, reply, read.plan.is_document)

    def keep(self, read: Read, packed: bytes, origin: _native.ReadOrigin) -> Landed:
        """Keeps what was just read on this host."""
        reply = unpack(packed)
        isolated = self.kept.isolate(reply, packed)
        self.kept.put(read.call, isolated, origin, len(packed))
        return Landed(isolated, reply, read.plan.is_document)

    def landed(self, read: Read, reply: Any) -> Landed:
        """A reply that is not kept; several callers may get it."""
        return Landed(self.kept.isolate(reply, pack(reply)), reply, read.plan.is_document)

    def count(self, why: int) -> None:
        name = WHYS[why]
        if name is not None:
            uncached = self.stats.uncached
            setattr(uncached, name, getattr(uncached, name) + 1)

    def represented(self, call: object | None, landed: Landed) -> Representation:
        """The JSON of a reply that just landed, kept beside it."""
        if call is None:
            return landed.representation()
        made = self.kept.get(("json", call))
        if made is not None:
            # Another caller that waited for the same read has had it made.
            found: Representation = made[0]
            return found
        beside = self.kept.get(call)
        if beside is None:
            return landed.representation()
        # Another reply than the one that landed may stand there by now.
        is_landed = beside[0] is landed.kept
        newest = landed if is_landed else Landed(beside[0], None, landed.is_document)
        representation = newest.representation()
        # It stands as long as the reply does that it was made of.
        self.kept.put(("json", call), representation, beside[1], representation.size)
        return representation

    def forget(self, keys: Sequence[Any]) -> None:
        # What is under way was begun before the write, perhaps.
        with self.lock:
            self.flights.clear()
        for key in keys:
            self.native.forget(self.way.key(key))

    def told(self) -> ReadStats:
        return replace(self.stats, uncached=copy(self.stats.uncached))

    def close(self) -> None:
        self._closed = True
        self.kept.clear()
        self._cache.close()

    def _check_prefixes(self, keys: Sequence[bytes]) -> None:
        heard = self._heard or [self.way.key(prefix) for prefix in self._prefixes]
        for key in keys:
            if not any(key.startswith(prefix) for prefix in heard):
                raise InvalidArgument(
                    f"the key {key!r} begins with none of prefixes: nobody would hear of its writes"
                )


def _command(method: str, args: tuple[Any, ...]) -> Any:
    """The first word of what a method sends."""
    return args[0] if method == _GENERAL and args else method.upper()


def refused(name: str) -> Exception:
    return refusal(name.upper())


def _prefixes(given: Any) -> Sequence[Any]:
    is_list = isinstance(given, (list, tuple)) and given
    if not is_list or not all(isinstance(one, (str, bytes)) for one in given):
        raise InvalidArgument('prefixes is a list of texts that keys begin with; [""] for all keys')
    return tuple(given)


def _joins_within(max_staleness: Duration) -> float:
    """Seconds. No caller is given what was read longer ago."""
    return min(_native.Reads.seconds(max_staleness), _LATEST)


_EVERY: "weakref.WeakSet[Reads]" = weakref.WeakSet()


def _in_child() -> None:
    """What is under way is the parent's, and so is a thread that holds a lock."""
    for reads in _EVERY:
        reads.lock = threading.Lock()
        reads.flights = {}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
