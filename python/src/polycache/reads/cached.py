"""`cached`: the client's own reads, from memory."""

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from ..durations import Duration
from ..options import MemoryOptions
from . import asynchronous, synchronous
from .ways import way_of

if TYPE_CHECKING:
    import redis
    import redis.asyncio

    from .types import AsyncCachedReads, CachedReads


class CachedOptions(TypedDict, total=False):
    """Options of `cached`."""

    path: str | PathLike[str] | None
    """The directory in which the processes of this host share replies. Default: none, each has its
    own in memory."""

    limit: int | str | None
    """The byte limit of the directory. Default: 256 MiB."""

    max_staleness: Duration | None
    """How far a reply may be behind the server. Default: "1s"."""

    timeout: Duration | None
    """How long a command that the cache itself sends may take; reads take as long as the client
    lets them. Default: "250ms"."""

    prefix: str | None
    """What the cache's own keys on the server begin with. Default: "polycache"."""

    prefixes: Sequence[str | bytes] | None
    """Prefixes of the keys that are read: of writes of others the server need not tell. Those of a
    namespace's client come behind its own prefix. Default: all keys of the client."""

    memory: MemoryOptions | None
    """Bounds, policy and isolation of what this process keeps in memory. Default: those of a
    cache."""


@overload
def cached(
    client: "redis.asyncio.Redis | redis.asyncio.RedisCluster", **options: Unpack[CachedOptions]
) -> "AsyncCachedReads": ...
@overload
def cached(
    client: "redis.Redis | redis.RedisCluster", **options: Unpack[CachedOptions]
) -> "CachedReads": ...
def cached(client: Any, **options: Unpack[CachedOptions]) -> Any:
    """The read commands of a `redis.Redis` or `redis.asyncio.Redis`, or of a `RedisCluster` of
    either kind, answered from this process' memory or from what this host keeps, while that is no
    further behind the server than `max_staleness`. What is not kept, or not by a server that is
    heard, the client reads.

        reads = cached(redis.Redis(), path=".cache")
        options = reads.xrange("OPTIONS", "-", "+")

    The object has the client's methods; each caller gets its own lists, dicts and sets. Methods
    that do not read, or whose reply cannot be cached, raise `UncacheableRead` and send nothing. It
    may be used from any thread and in a forked child.

    Raises `InvalidArgument` for a client whose replies cannot be cached, with the reason, and for a
    wrong option.
    """
    given: dict[str, Any] = dict(options)
    if way_of(client).is_async:
        return asynchronous.AsyncCachedReads(client, given)
    return synchronous.CachedReads(client, given)
