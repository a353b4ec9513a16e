"""Problem documents (RFC 9457): what was wrong with a request, for programs and people."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from ..errors import PolycacheError

if TYPE_CHECKING:
    from .answer import Answer

# Of RFC 9110, where HTTPStatus has the names of older ones.
_TITLES = {413: "Content Too Large", 414: "URI Too Long", 422: "Unprocessable Content"}
_DETAILS = {
    405: "Only GET and HEAD are answered here.",
    406: "Accept-Encoding refuses every coding that there is, and the bytes without one.",
    412: "If-Match does not name what is here now.",
}


class HttpProblem(Exception):
    """A request cannot be answered as it stands. It becomes a problem document with its status.

    `status` is that of the answer, 400 to 599; `members` are more members of the document. Clients
    see the message.
    """

    code = "http_problem"

    def __init__(self, status: int, detail: str, members: Mapping[str, Any] | None = None) -> None:
        super().__init__(status, detail, members)
        self.detail = detail
        self.status = status
        self.members = dict(members or {})

    def __str__(self) -> str:
        return self.detail


def problem_answer(
    status: int, method: str, detail: str | None = None, members: Mapping[str, Any] | None = None
) -> "Answer":
    """The answer for a status: a problem document that nobody stores, without a body for HEAD."""
    from .answer import Answer

    told = dict(members or {})
    kind = told.pop("type", "about:blank")
    text = detail or _DETAILS.get(status)
    document = told | {"type": kind, "title": _title(status), "status": status}
    if text is not None:
        document["detail"] = text
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    headers = [("content-type", "application/problem+json"), ("cache-control", "no-store")]
    if status == 405:
        headers.append(("allow", "GET, HEAD"))
    headers.append(("content-length", str(len(body))))
    return Answer(status, headers, b"" if method == "HEAD" else body)


def problem_of(error: BaseException, method: str) -> "Answer":
    """The answer for an error: of an `HttpProblem` its own; of an error of this package that a
    retry helps with 503; of any other 500, which says nothing of it."""
    if isinstance(error, HttpProblem):
        return problem_answer(error.status, method, str(error), error.members)
    if isinstance(error, PolycacheError) and error.retryable:
        return problem_answer(503, method, "The data is not available now; try again.")
    return problem_answer(500, method, "The server failed; its log says why.")


def _title(status: int) -> str:
    try:
        return _TITLES.get(status) or HTTPStatus(status).phrase
    except ValueError:
        return "Error"
