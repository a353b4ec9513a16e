"""How the socket is taken out, for the cost of the client alone."""

from __future__ import annotations

from typing import Any, ClassVar

from redis import Connection


class CannedConnection(Connection):
    """A connection that first talks to the server and keeps the replies. After `play` nothing is
    written or parsed any more, though commands are still encoded: they go nowhere, and the same
    replies come back."""

    recorded: ClassVar[list[Any]] = []
    _replies: ClassVar[list[Any]] = []
    _next: ClassVar[int] = 0

    @classmethod
    def play(cls, replies: list[Any]) -> None:
        """Answers with these, in turn, from now on; with none it talks again."""
        cls._replies, cls._next = replies, 0

    def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        if not self._replies:
            super().send_packed_command(command, check_health)  # type: ignore[no-untyped-call]

    def can_read(self, timeout: float = 0) -> bool:
        return False if self._replies else super().can_read(timeout)

    def read_response(self, *args: Any, **options: Any) -> Any:
        replies = self._replies
        if not replies:
            reply = super().read_response(*args, **options)
            self.recorded.append(reply)
            return reply
        kind = CannedConnection
        reply = replies[kind._next]
        kind._next = (kind._next + 1) % len(replies)
        return reply
