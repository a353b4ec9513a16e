"""Values over HTTP: bytes that are encoded once, and what they answer (spec/http.md).

    page = Representation(b"[1,2,3]")
    answer = page.respond("GET", {"accept-encoding": "gzip"})

Needs no framework, and the native extension only for durations of a `CacheControl`;
`polycache.http.starlette` and `polycache.http.django` write answers in the way of those,
`polycache.http.wsgi` in that of WSGI. `polycache.http.asgi` and `polycache.http.wsgi` have a
`ResponseCache`, a cache before an application.
"""

from .answer import Answer
from .codings import CODINGS
from .policy import CacheControl, Policy
from .problem import HttpProblem, problem_of
from .representation import Composite, Representation
from .stream_range import StreamRange, stream_range

__all__ = [
    "CODINGS",
    "Answer",
    "CacheControl",
    "Composite",
    "HttpProblem",
    "Policy",
    "Representation",
    "StreamRange",
    "problem_of",
    "stream_range",
]
