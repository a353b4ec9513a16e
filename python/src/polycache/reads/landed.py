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
    """

    __slots__ = ("_reply", "_representation", "kept")

    def __init__(self, kept: Any, reply: Any) -> None:
        self.kept = kept
        # Where callers get copies of their own, nobody can have changed this one.
        self._reply = reply if type(kept) is Copied else None
        self._representation: Representation | None = None

    def representation(self) -> Representation:
        """The reply's JSON."""
        made = self._representation
        if made is None:
            reply = self.kept if self._reply is None else self._reply
            made = self._representation = Representation(_native.reply_json(handed_out(reply)))
            self._reply = None
        return made
