"""Representations as responses of Starlette and FastAPI."""

from typing import Any

from starlette.concurrency import run_in_threadpool  # type: ignore[import-not-found, unused-ignore]
from starlette.responses import Response  # type: ignore[import-not-found, unused-ignore]

from .answer import Answer, answer_now
from .policy import DEFAULT, Policy
from .representation import Composite, Representation

Fields = list[tuple[bytes, bytes]]


class RepresentationResponse(Response):  # type: ignore[misc, unused-ignore]
    """The answer of a representation to the request that it is sent to.

        @app.get("/page")
        async def page() -> Response:
            return RepresentationResponse(await reads.json.xrange("OPTIONS", "-", "+"))

    Routes for HEAD have to be named as such in FastAPI: `app.api_route(methods=["GET", "HEAD"])`.
    """

    def __init__(self, content: Representation | Composite, policy: Policy = DEFAULT) -> None:
        # What Starlette's own constructor makes of nothing, without its fields for an empty body.
        self.status_code = 200
        self.background = None
        self.body = b""
        self.raw_headers = []
        self._content = content
        self._policy = policy

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        answer = await _answer(self._content, self._policy, scope)
        headers = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers]
        if self.raw_headers:
            headers = _joined(self.raw_headers, headers)
        begins = {"type": "http.response.start", "status": answer.status, "headers": headers}
        await send(begins)
        await send({"type": "http.response.body", "body": answer.body})
        if self.background is not None:
            await self.background()


def _joined(before: Fields, own: Fields) -> Fields:
    """With what middleware and the route have put on the response. Of fields that both have, the
    answer's count; but each cookie is set, and Vary says all that the answer was chosen by, or
    caches would give it to others."""
    names = {name for name, _ in own} | {b"content-length", b"content-type"}
    names.discard(b"set-cookie")
    vary = [text for name, text in before if name == b"vary"]
    joined = [(name, _vary([*vary, text]) if name == b"vary" else text) for name, text in own]
    return joined + [one for one in before if one[0] not in names]


def _vary(fields: list[bytes]) -> bytes:
    """All names, each once."""
    names: dict[bytes, bytes] = {}
    for name in b",".join(fields).split(b","):
        names.setdefault(name.strip().lower(), name.strip())
    return b"*" if b"*" in names else b", ".join(filter(None, names.values()))


# The fields of a request that decide over the answer. ASGI gives names in lower case.
_ASKED = frozenset((b"accept-encoding", b"if-match", b"if-none-match"))


async def _answer(content: Representation | Composite, policy: Policy, scope: Any) -> Answer:
    headers = [
        (name.decode("latin-1"), text.decode("latin-1"))
        for name, text in scope["headers"]
        if name in _ASKED
    ]
    answer = answer_now(content, policy, scope["method"], headers)
    if answer is not None:
        return answer
    # Compressing a large value takes milliseconds, in which others want the loop.
    made: Answer = await run_in_threadpool(content.respond, scope["method"], headers, policy)
    return made
