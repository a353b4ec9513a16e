"""Representations as answers of WSGI servers (PEP 3333), and so of Flask's, and a cache before an
application."""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from .policy import DEFAULT, Policy
from .representation import Composite, Representation
from .response_cache.settings import ResponseCacheOptions
from .response_cache.wsgi import ResponseCache

__all__ = ["ResponseCache", "ResponseCacheOptions", "respond"]


def respond(
    environ: dict[str, Any],
    start_response: Callable[..., Any],
    content: Representation | Composite,
    policy: Policy = DEFAULT,
) -> Iterable[bytes]:
    """Answers a request: what a WSGI application returns."""
    headers = {
        name[5:].replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    answer = content.respond(environ["REQUEST_METHOD"], headers, policy)
    status = HTTPStatus(answer.status)
    start_response(f"{answer.status} {status.phrase}", answer.headers)
    return [answer.body]
