"""What a read brought."""

from typing import Any

from .. import _native
from ..http.representation import Representation
from .kept import Copied, handed_out


class Landed:
    """A reply that all callers of a read share, as it is isolated. Its JSON is made once, for the
    first who wants it, whether or not the reply may be kept.

    kept: what `KeptReplies.isolate` made of the reply.
    reply: the reply itself.
    is_document: whether its text is that of a JSON document.
    """

    __slots__ = ("_reply", "_representation", "is_document", "kept")

    def __init__(self, kept: Any, reply: Any, is_document: bool) -> None:
        self.kept = kept
        self.is_document = is_document
        # Where callers get copies of their own, nobody can have changed this one.
        self._reply = reply if type(kept) is Copied else None
        self._representation: Representation | None = None

    def representation(self) -> Representation:
        """The reply's JSON."""
        made = self._representation
        if made is None:
            reply = self.kept if self._reply is None else self._reply
            made = self._representation = Representation(
                json_of(handed_out(reply), self.is_document)
            )
            self._reply = None
        return made


def json_of(reply: Any, is_document: bool) -> bytes:
    """A reply as JSON (`spec/reads.md`, "As JSON"). The text of a document is JSON already."""
    if is_document and isinstance(reply, str):
        return reply.encode("utf-8", "replace")
    if is_document and isinstance(reply, bytes):
        return reply
    return _native.reply_json(reply)
