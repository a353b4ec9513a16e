"""What cached reads did since they were made."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class UncachedReads:
    """Reads that were sent and whose replies were not kept, by the reason."""

    deaf: int = 0
    """Nobody of this host hears of writes just now, or the server does not answer the cache."""
    not_heard: int = 0
    """The listener does not hear of writes of these keys yet."""
    busy: int = 0
    """Another process of this host reads the same, or there is no room."""
    refused: int = 0
    """The connection leads to another server than the listener's, the reply may expire unnoticed,
    a write came meanwhile, a function without a name makes something of the reply, or the read
    names more than 1,024 keys."""


@dataclass(slots=True)
class ReadStats:
    """Of one object of `cached`. Threads that count at the same time may lose a count."""

    memory_hits: int = 0
    """Replies from this process' memory."""
    host_hits: int = 0
    """Replies that this host had."""
    sent: int = 0
    """Reads that the client sent."""
    joined: int = 0
    """Callers that shared a read with another one."""
    uncached: UncachedReads = field(default_factory=UncachedReads)


WHYS = (None, "deaf", "not_heard", "busy", "refused")
"""By the number that the native part gives."""
