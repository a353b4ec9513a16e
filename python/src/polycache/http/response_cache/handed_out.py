"""Answers to requests, of what is stored."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from ...errors import EntryTooLarge
from ...memory_cache import MemoryCache
from ..answer import Answer
from ..policy import Policy
from ..representation import Representation
from .directives import directives_of
from .settings import Settings
from .stored_answer import StoredAnswer

_MOST = 2**25
"""Most bytes of bodies that are kept with their variants."""

# The fields of a request that decide over the answer.
_ASKED = ("accept-encoding", "if-match", "if-none-match")

Respond = Callable[[Representation, Policy, str, Mapping[str, str]], Awaitable[Answer]]
"""Answers a request by a representation; where it has to be compressed first, that may be done
elsewhere."""


class _Kept:
    """A stored answer whose compressed variants are kept."""

    __slots__ = ("made", "policies", "representation")

    def __init__(self, stored: StoredAnswer, settings: Settings) -> None:
        self.made = made = stored.made
        self.representation = Representation(
            stored.body,
            dict(stored.fields).get("content-type", ""),
            etag=stored.etag,
            # Ages are whole numbers of a difference in milliseconds.
            stored_at=0,
            clock=lambda: (settings.now() - made) / 1000,
        )
        self.policies: dict[str, Policy] = {}


def _weight(key: str, kept: _Kept) -> int:
    return len(key) + kept.representation.size + 256


class HandedOut:
    """Hands out answers; the representations of those used last are kept, so that each variant is
    compressed once."""

    def __init__(self, settings: Settings, respond: Respond) -> None:
        self._settings = settings
        self._respond = respond
        self._kept = MemoryCache[str, _Kept](
            None, max_bytes=_MOST, weigher=_weight, isolation="none"
        )

    async def answer(
        self, key: str, stored: StoredAnswer, method: str, fields: Mapping[str, str], status: str
    ) -> Answer:
        """The answer to a request from a stored one; `status` is for the field Cache-Status."""
        if stored.status != 200:
            return self._other(stored, method, status)
        kept = self._kept.get(key)
        if kept is None or (kept.made, kept.representation.etag) != (stored.made, stored.etag):
            kept = _Kept(stored, self._settings)
            # One that is too large for it is made each time.
            with suppress(EntryTooLarge):
                self._kept.set(key, kept)
        policy = kept.policies.get(status)
        if policy is None:
            policy = kept.policies[status] = self._policy(stored, status)
        asked = {name: fields[name] for name in _ASKED if name in fields}
        return await self._respond(kept.representation, policy, method, asked)

    def _policy(self, stored: StoredAnswer, status: str) -> Policy:
        """The stored fields, as a policy has them; those of the content are the
        representation's."""
        settings = self._settings
        always = [field for field in stored.fields if field[0] not in ("content-type", "vary")]
        said = dict(stored.fields).get("vary", "").split(",")
        # RFC 9111 5.2.2.6.
        control = directives_of(dict(stored.fields).get("cache-control"))
        codings = () if "no-transform" in control else settings.policy.codings
        coded = ("accept-encoding",) if codings else ()
        names = (*(name.strip().lower() for name in said), *settings.vary, *coded)
        vary = dict.fromkeys(name for name in names if name)
        if vary:
            always.append(("vary", ", ".join(vary)))
        if settings.cache_status:
            always.append(("cache-status", f"polycache; {status}"))
        return settings.policy._with_fields(always, codings)

    def _other(self, stored: StoredAnswer, method: str, status: str) -> Answer:
        """An answer with another status has no conditions (RFC 9110 13.2.1)."""
        age = max(0, self._settings.now() - stored.made) // 1000
        fields = [field for field in stored.fields if field[0] == "content-type"]
        fields += [*self._policy(stored, status).always, ("age", str(age))]
        if stored.status in (204, 205):
            return Answer(stored.status, fields, b"")
        fields.append(("content-length", str(len(stored.body))))
        return Answer(stored.status, fields, b"" if method == "HEAD" else stored.body)
