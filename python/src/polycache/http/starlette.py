"""Representations as responses of Starlette and FastAPI."""

import asyncio
from typing import Any

from starlette.responses import Response  # type: ignore[import-not-found, unused-ignore]

from .answer import Answer, answer_now
from .policy import DEFAULT, Policy
from .representation import Composite, Representation


class RepresentationResponse(Response):  # type: ignore[misc, unused-ignore]
    """The answer of a representation to the request that it is sent to.

        @app.get("/page")
        async def page() -> Response:
            return RepresentationResponse(await reads.json.xrange("OPTIONS", "-", "+"))

    Routes for HEAD have to be named as such in FastAPI: `app.api_route(methods=["GET", "HEAD"])`.
    """

    def __init__(self, content: Representation | Composite, policy: Policy = DEFAULT) -> None:
        super().__init__()
        self._content = content
        self._policy = policy

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        answer = await _answer(self._content, self._policy, scope)
        names = {name for name, _ in answer.headers}
        # What middleware and the route have put on the response stays.
        mine = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers]
        others = [one for one in self.raw_headers if one[0].decode("latin-1") not in names]
        others = [one for one in others if one[0] not in (b"content-length", b"content-type")]
        begins = {"status": answer.status, "headers": mine + others}
        await send({"type": "http.response.start"} | begins)
        await send({"type": "http.response.body", "body": answer.body})
        if self.background is not None:
            await self.background()


async def _answer(content: Representation | Composite, policy: Policy, scope: Any) -> Answer:
    headers = [(name.decode("latin-1"), text.decode("latin-1")) for name, text in scope["headers"]]
    answer = answer_now(content, policy, scope["method"], headers)
    if answer is not None:
        return answer
    # Compressing a large value takes milliseconds, in which others want the loop.
    return await asyncio.to_thread(content.respond, scope["method"], headers, policy)
