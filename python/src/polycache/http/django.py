"""Representations as responses of Django's views, with and without asyncio."""

from django.http import HttpRequest, HttpResponse  # type: ignore[import-untyped]

from .policy import DEFAULT, Policy
from .representation import Composite, Representation


def respond(
    request: HttpRequest, content: Representation | Composite, policy: Policy = DEFAULT
) -> HttpResponse:
    """The answer of a representation to a request.

    def page(request):
        return respond(request, reads.json.xrange("OPTIONS", "-", "+"))
    """
    answer = content.respond(request.method or "GET", request.headers, policy)
    response = HttpResponse(answer.body, status=answer.status)
    del response["content-type"]
    for name, value in answer.headers:
        response[name] = value
    return response
