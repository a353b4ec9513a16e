"""One request on its way through the cache, in asyncio or in a thread."""

import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol
from uuid import uuid4

from ...entry import Entry
from ...errors import InvalidArgument
from ..answer import Answer
from ..problem import problem_answer
from .directives import directives_of, whole_seconds
from .handed_out import HandedOut, Respond
from .request_key import base_of, key_of
from .settings import Settings
from .storable import Lifetime, age_of, lifetime_of
from .store import AnswerStore
from .stored_answer import Passing, StoredAnswer, answer_to_store, read, since_of

_PASS = 10_000
"""How long a key passes by whose answer could not be stored, in milliseconds: callers do not queue
for what each has to ask for itself."""
_PASS_AFTER_FAILURE = 1000
_AGAIN = "#again"
"""Behind a key and before the version of what may not be served: what is loaded in its place lies
here for callers that found the same."""
_AGAIN_FOR = 1.0
_CHANGED = "changed "
"""Before a key without the values of fields: what is written there when its answers are
forgotten."""
_CHANGED_FOR = 86_400
_SAFE = frozenset(("GET", "HEAD", "OPTIONS", "TRACE"))


@dataclass(frozen=True, slots=True)
class Request:
    """What is known of a request."""

    method: str
    fields: Mapping[str, str]
    """By name in lower case; lines of one name are one."""
    given: Callable[[], str | None]
    """What its answer is stored under; None if it is not cached."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A handler's complete answer."""

    status: int
    fields: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a handler's answer is not stored; and its error, if it raised one behind that."""

    why: str
    error: Exception | None = None


Judge = Callable[[int, Mapping[str, str]], str | None]
"""Says of an answer's status and fields why it is not stored."""


class Origin(Protocol):
    """The handler of a request."""

    async def make(self, judge: Judge, max_body: int) -> Whole | Refused:
        """Its answer to the request as one sees it who knows only what belongs to the key. It goes
        on no longer than its answer may be stored. Raises what it raises."""


@dataclass(frozen=True, slots=True)
class Pass:
    """The handler answers itself, the whole request."""

    why: str

    @property
    def status(self) -> str:
        """For the field Cache-Status."""
        return "fwd=method" if self.why == "method" else f"fwd=bypass; detail={self.why}"


@dataclass(frozen=True, slots=True)
class _Made:
    """What a handler brought: an answer that is stored, or why it is for its own caller alone."""

    entry: StoredAnswer | Passing
    error: Exception | None = None

    @property
    def has_failed(self) -> bool:
        return isinstance(self.entry, Passing) and self.entry.why in ("failed", "server-error")


class Core:
    """What the requests of one response cache have in common."""

    def __init__(
        self,
        store: AnswerStore,
        settings: Settings,
        respond: Respond,
        finish: Callable[[Coroutine[Any, Any, object]], object],
    ) -> None:
        self.store = store
        self.settings = settings
        self.handed_out = HandedOut(settings, respond)
        self.finish = finish
        """Sees to it that something is done, whatever becomes of its caller."""
        self._refreshing: dict[str, int] = {}

    def begins_refresh(self, key: str) -> bool:
        """Whether this process does not fetch it anew already. A forked child is another one."""
        process = os.getpid()
        if self._refreshing.get(key) == process:
            return False
        self._refreshing[key] = process
        return True

    def ends_refresh(self, key: str) -> None:
        self._refreshing.pop(key, None)

    async def undo(self, key: str) -> None:
        """Deletes an answer of which nobody knows whether it was to be forgotten."""
        try:
            await self.store.delete(key)
        except Exception as error:
            self.settings.tell(error)


class Call:
    """A request, and what answers it."""

    def __init__(self, core: Core, request: Request, origin: Origin) -> None:
        self._core = core
        self._store = core.store
        self._settings = core.settings
        self._request = request
        self._origin = origin
        self._stale_key: str | None = None

    async def answer(self) -> Answer | Pass:
        """What the cache answers, or that the handler does."""
        request = self._request
        if request.method not in ("GET", "HEAD"):
            return self._pass("method")
        given = request.given()
        if given is None:
            return self._pass("key")
        refusal = self._refusal()
        if refusal is not None:
            return self._pass(refusal)
        try:
            base = base_of(given)
            key = key_of(base, request.fields, self._settings.vary)
            found = await self._store.get(key)
        except Exception as error:
            return self._without_cache(error)
        if found is None:
            return await self._missed(base, key)
        stored = read(found)
        if stored is None:
            return self._pass("foreign")
        now = self._settings.now()
        if isinstance(stored, Passing):
            passes = now < stored.until
            return self._pass(stored.why) if passes else await self._stale(base, key)
        if now < stored.fresh_until:
            return await self._hand_out(key, stored, "hit")
        if now >= stored.revalidate_until:
            return await self._stale(base, key)
        self._stale_key = key
        return await self._hand_out(key, stored, "hit; detail=stale-while-revalidate")

    async def passed(self, status: int) -> None:
        """To be called when the handler's own answer begins, and before anyone gets it: one that
        changed something ends what is stored."""
        if self._request.method in _SAFE or status >= 400:
            return
        try:
            given = self._request.given()
            if given is not None:
                await self._forget(base_of(given))
        except Exception as error:
            # The handler's change was made, whatever became of the answers.
            self._settings.tell(error)

    async def answered(self) -> None:
        """To be called when the answer is with the client: fetches anew behind a stale one, once on
        this machine."""
        key, self._stale_key = self._stale_key, None
        if key is None or not self._core.begins_refresh(key):
            return
        try:
            lease = self._store.lease(key)
            if await lease.acquire(False):
                try:
                    before = await self._store.entry(key)
                    # Deleted since it was found: what is made now could not be stored.
                    made = None if before is None else await self._replace(key, before)
                finally:
                    await lease.release()
                if made is not None and made.error is not None:
                    self._settings.tell(made.error)
        except Exception as error:
            self._settings.tell(error)
        finally:
            self._core.ends_refresh(key)

    def _refusal(self) -> str | None:
        """Why a request is neither answered from the cache nor its answer stored."""
        fields = self._request.fields
        for name in ("authorization", "cookie"):
            if name in fields and name not in self._settings.keyed:
                return name
        for name in ("upgrade", "if-match", "if-unmodified-since"):
            if name in fields:
                return name
        asks = directives_of(fields.get("cache-control"))
        return "request-no-store" if "no-store" in asks else None

    def _pass(self, why: str) -> Answer | Pass:
        # RFC 9111 5.2.1.7.
        asks = directives_of(self._request.fields.get("cache-control"))
        if "only-if-cached" in asks:
            why = "It is not in the cache, and only that was asked for."
            return problem_answer(504, self._request.method, why)
        return Pass(why)

    def _without_cache(self, error: Exception) -> Answer | Pass:
        self._settings.tell(error)
        return self._pass("cache")

    def _no_load(self) -> Answer | Pass | None:
        """In place of asking the handler for what would be stored."""
        refused = self._pass("method")
        # Of HEAD nothing would be learned that a GET could be answered with.
        is_pass = isinstance(refused, Pass) and self._request.method == "GET"
        return None if is_pass else refused

    async def _missed(self, base: str, key: str) -> Answer | Pass:
        if (instead := self._no_load()) is not None:
            return instead
        load = _Load(self._make)
        is_unsure = False
        try:
            before = load.since = await self._changed(base)
            # A delete of a key alone ends a load of it.
            is_unsure = bool(self._settings.vary)
            loaded = await self._store.get_or_set(key, load, ttl=self._ttl_of)
            if is_unsure and load.made is not None and await self._changed(base) != before:
                await self._store.delete(key)
            is_unsure = False
        except Exception as error:
            if load.made is None:
                return self._without_cache(error)
            self._settings.tell(error)
        finally:
            if is_unsure and load.made is not None:
                self._core.finish(self._core.undo(key))
        if load.made is None:
            # Of a load that began before a change of which this caller may know.
            if read(loaded) is not None and since_of(loaded) != before:
                return self._pass("changed")
            return await self._joined(key, loaded, None)
        return await self._brought(key, load.made)

    async def _stale(self, base: str, key: str) -> Answer | Pass:
        """Fetches anew what is there and may not be served; a stale answer stands in for a handler
        that fails."""
        if (instead := self._no_load()) is not None:
            return instead
        try:
            before = await self._store.entry(key)
        except Exception as error:
            return self._without_cache(error)
        # Deleted since it was found.
        if before is None:
            return await self._missed(base, key)
        found = read(before.value)
        # Replaced by what may be served.
        if self._is_current(found):
            return await self._joined(key, before.value, None)
        stale = found if isinstance(found, StoredAnswer) else None
        load = _Load(lambda: self._replace(key, before))
        # Only callers that found the same entry share the load: a later one finds what it stored.
        again = f"{key}{_AGAIN}{before.version}"
        try:
            loaded = await self._store.get_or_set(again, load, ttl=_AGAIN_FOR)
        except Exception as error:
            if load.made is None:
                return self._without_cache(error)
            self._settings.tell(error)
        made = load.made
        if made is None:
            return await self._joined(key, loaded, stale)
        if stale is None or not made.has_failed or not self._stands_in(stale):
            return await self._brought(key, made)
        if made.error is not None:
            self._settings.tell(made.error)
        return await self._hand_out(key, stale, "hit; detail=stale-if-error")

    def _is_current(self, found: StoredAnswer | Passing | None) -> bool:
        if found is None:
            return False
        until = found.until if isinstance(found, Passing) else found.fresh_until
        return self._settings.now() < until

    def _stands_in(self, stale: StoredAnswer) -> bool:
        return self._settings.now() < stale.error_until

    async def _joined(self, key: str, loaded: object, stale: StoredAnswer | None) -> Answer | Pass:
        """What a caller gets that waited for another's load: never an answer that was for the other
        alone."""
        stored = read(loaded)
        if stored is None:
            return self._pass("foreign")
        if isinstance(stored, StoredAnswer):
            return await self._hand_out(key, stored, "hit; collapsed")
        if stale is not None and _Made(stored).has_failed and self._stands_in(stale):
            return await self._hand_out(key, stale, "hit; detail=stale-if-error")
        return self._pass(stored.why)

    async def _brought(self, key: str, made: _Made) -> Answer | Pass:
        """What the caller gets whose request was loaded for. What cannot be stored was made without
        the fields that only this request has, so the handler is asked again with all of them."""
        if isinstance(made.entry, StoredAnswer):
            return await self._hand_out(key, made.entry, "fwd=miss; stored")
        return self._pass(made.entry.why)

    async def _hand_out(self, key: str, stored: StoredAnswer, status: str) -> Answer:
        request = self._request
        return await self._core.handed_out.answer(
            key, stored, request.method, request.fields, status
        )

    async def _forget(self, base: str) -> None:
        """Forgets the answers of a key for all values of the fields in it, of which a walk through
        the cache tells."""
        if not self._settings.vary:
            await self._store.delete(base)
            return
        # Loads under way have no entry yet that the walk could find: they look at this before and
        # after.
        await self._store.set(_CHANGED + base, str(uuid4()), ttl=_CHANGED_FOR)
        await self._store.delete_prefix(base)

    async def _changed(self, base: str) -> str | None:
        """Differs after the answers of a key were forgotten."""
        changed = await self._store.get(_CHANGED + base) if self._settings.vary else None
        return changed if isinstance(changed, str) else None

    async def _replace(self, key: str, before: Entry) -> _Made:
        """Asks the handler, and replaces what is stored by what it brings; a failure leaves it. Who
        deletes it meanwhile wins."""
        made = await self._make()
        if made.has_failed and isinstance(read(before.value), StoredAnswer):
            return made
        value = made.entry.value
        try:
            ttl = self._ttl_of(value)
            await self._store.compare_and_set(key, before.version, value, ttl=ttl)
        except Exception as error:
            self._settings.tell(error)
        return made

    async def _make(self) -> _Made:
        """Asks the handler as one who knows only what belongs to the key."""
        settings = self._settings
        lifetime: Lifetime | str = "status"
        now = 0

        def judge(status: int, fields: Mapping[str, str]) -> str | None:
            nonlocal lifetime, now
            now = settings.now()
            lifetime = lifetime_of(status, fields, settings.keyed, settings.defaults, now)
            if isinstance(lifetime, str):
                return lifetime
            told = whole_seconds(fields.get("content-length", ""))
            return "too-large" if told is not None and told > settings.max_body else None

        try:
            made = await self._origin.make(judge, settings.max_body)
            if isinstance(made, Refused):
                return self._refused(made.why, made.error)
            status, fields, body = made.status, made.fields, made.body
            told = fields.get("content-length")
            if told is not None and told != str(len(body)):
                raise InvalidArgument(f"the handler's body has {len(body)} bytes and not {told}")
            assert isinstance(lifetime, Lifetime)
            return _Made(answer_to_store(status, fields, body, lifetime, age_of(fields), now))
        except Exception as error:
            return self._refused("failed", error)

    def _refused(self, why: str, error: Exception | None) -> _Made:
        made = _Made(Passing(why, 0), error)
        ms = _PASS_AFTER_FAILURE if made.has_failed else _PASS
        return _Made(Passing(why, self._settings.now() + ms), error)

    def _ttl_of(self, value: object) -> timedelta:
        """How long an entry is of any use; what is none of ours is not written."""
        stored = read(value)
        left = 0 if stored is None else stored.useful_until - self._settings.now()
        return timedelta(milliseconds=max(1, left))


class _Load:
    """A loader that keeps what it made."""

    def __init__(self, make: Callable[[], Coroutine[Any, Any, _Made]]) -> None:
        self._make = make
        self.made: _Made | None = None
        self.since: str | None = None

    async def __call__(self) -> dict[str, Any]:
        self.made = await self._make()
        value = self.made.entry.value
        return value if self.since is None else {**value, "since": self.since}
