"""The options of a cache: the keyword arguments of `Cache` and `AsyncCache`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from .durations import Duration
from .registered_types import Type
from .stores.store import Store


class MemoryOptions(TypedDict, total=False):
    """The options of a cache's memory tier."""

    max_entries: int
    """Most entries, 1 to 2**24. Default: 10,000."""

    max_bytes: int | str | None
    """Most bytes that keys and values take, by an estimate: a number, or text like "64MiB"; None:
    nothing is weighed. Default: "64MiB"."""

    policy: Literal["2q-clock"]
    """Which entry goes when there is no room (`spec/eviction.md`). Default: "2q-clock"."""

    isolation: Literal["clone", "none"]
    """"clone": no reader sees what another does to its value. What cannot be changed (text, bytes,
    numbers, ...) is kept and shared; lists, dicts and sets are decoded for each reader. "none":
    everything is kept, and readers get the same object until it is set again. Default: "clone"."""


class EncryptionKey(TypedDict):
    """A key of AES-256-GCM."""

    id: int
    """Identifies the key in every entry that it encrypts: 0 to 2**32 - 1."""

    key: bytes
    """32 random bytes, from a secret store: `secrets.token_bytes(32)` makes some."""


class Options(TypedDict, total=False):
    """Every option has a default; None stands for it. An unknown option raises
    `InvalidArgument`."""

    namespace: str | Sequence[str] | None
    """One part as text, or a list of parts. Default: none."""

    name: str | None
    """What metrics call the cache and the caches of its nested namespaces (see
    `polycache.opentelemetry`). Default: the namespace, its parts joined by "::", or "default"."""

    ttl: Duration | None
    """How long an entry lives if its write does not say. Default: until it is evicted."""

    time_to_idle: Duration | None
    """How long an entry stays without a read, by whatever process: it expires when it was neither
    read nor written for that long; with `ttl`, too, whichever ends first counts. `peek`, `entry`,
    `has`, `ttl` and `keys` are no use of it. Over a directory a read prolongs an entry when an
    eighth of the time has passed, by one write, and an entry lives up to an eighth longer than
    this, never less. It keeps the time that it was written with. Default: none."""

    jitter: float | Duration | None
    """By how much the cache's `ttl` is shortened, at random for each write, so that entries written
    together do not expire together: a number from 0 to below 1 is a part of it (0.1: a tenth at
    most), all else a duration that is shorter; 1, which could be either, is refused. A `ttl` that a
    write gives is taken as it is. Default: none."""

    limit: int | str | None
    """Bytes of everything in the directory, as a number or as text like "64MiB", 2 MiB to 1 TiB.
    Default: the existing directory's, or 256 MiB for a new one."""

    max_value: int | str | None
    """Most bytes of a value, uncompressed, that is read or written (`ValueTooLarge`): a limit on
    what a hostile entry can make this process allocate. Each number and text in the value counts
    for 4 bytes at least, each list, dict and other compound value for 16; for these counts the
    limit is 4 MiB or more. A number, or text like "64MiB". Default: "64MiB"."""

    mode: int | None
    """Permission bits of the cache's files, as of open(2): 0o600 is for this user alone, 0o660 for
    the users of a group, 0o640 for one user that writes and a group that reads, and 0o664 and 0o644
    let every user read. With more than 0o600 the files get the group of `path`, and a cache is used
    that another user made: one of a group that this process is in or, with 0o664 and 0o644, of any.
    The owner's processes change an existing directory's. Default: the existing directory's; 0o600
    for a new one."""

    serializer: Literal["messagepack", "json", "text", "bytes"] | None
    """How values become bytes. Default: "messagepack", which takes every row of the type map."""

    compressor: str | None
    """How values are compressed: "none", "smart" (zstd where it is worth it, value by value),
    "zstd" (level 3) or "zstd:1" to "zstd:22". Default: "none"."""

    dictionaries: Sequence[bytes] | None
    """Trained zstd dictionaries for the compressor "smart" or zstd: with one, values of a few
    hundred bytes get smaller, too. The first compresses, all of them decompress, so that a new one
    can take over. `polycache train-dictionary` makes one from samples. An entry whose dictionary is
    missing here raises `UnknownDictionary`. Default: none."""

    encryption: Sequence[EncryptionKey] | None
    """Keys for AES-256-GCM, with which values are encrypted: the first one encrypts, all of them
    decrypt, so that keys can be changed. Plain entries are then refused as `NotEncrypted`. Keys of
    the cache, sizes and times stay readable. One key is good for 2**32 entries. Without keys,
    values are not encrypted. Default: none."""

    types: Mapping[str, type | Type[Any]] | None
    """Types of the program, by name: `{"user": User}`. A value of such a class is written as its
    name and a value of the type map, and each reader gets its own object of that class, in every
    process and language that has registered the name. Others get a `Named`. Dataclasses, attrs
    classes, named tuples, pydantic models and enums need only their class, others a
    `polycache.Type`; `polycache.arrays` has those of NumPy and Arrow. Default: none."""

    lease_timeout: Duration | None
    """How old a load may be before a caller stops waiting for it and loads beside it, 63 ms to 8
    hours. If a holder's process dies, its key is free at once. Default: "30s"."""

    wait_timeout: Duration | None
    """How long a caller waits for the loads of others before it gets `WaitTimeout`, 1 ms to 24
    hours. Default: "60s"."""

    store_errors: Literal["report", "raise"] | None
    """What happens to a loaded value that cannot be stored: "report" hands it to its caller, counts
    it and tells the logger `polycache`; "raise" raises the error of `set`. Default: "report"."""

    empty_at_boot: bool | None
    """Empties the directory when this process is the first to open it since the machine started,
    and it was never opened without this option. Otherwise the cache is kept. Default: False."""

    flush_every: Duration | Literal["never"] | None
    """How often what was changed is written to the disk, 100 ms to 24 hours, by a thread in the
    background. A power loss undoes what was changed since, and no more. With "never" there is
    no such thread; a power loss undoes what the kernel had not written by itself (on Linux
    mostly within half a minute), and what was deleted or cleared in that time may be back.
    Default: "5s"."""

    memory: MemoryOptions | bool | None
    """Keeps what this process used last as objects, and serves them while no process of the machine
    has changed them (`spec/memory.md`). False: every read goes to the directory. Without a
    directory it is the cache itself. Default: True."""

    store: (
        Literal["host", "lmdb", "rocksdb", "files"]
        | Literal["dbm", "dbm.sqlite3", "dbm.gnu", "dbm.ndbm", "berkeleydb"]
        | type[Store]
        | None
    )
    """What keeps the entries: "host", the package's own files, which are the fastest; "lmdb",
    "rocksdb", "dbm" or "files", libraries for what those are not (`docs/stores.md`); or a class of
    your own. A directory stays with its store. Default: "host"."""

    durability: Literal["none", "kill", "synced"] | None
    """What becomes of a write that returned, in a store beside "host": "none", it may be lost when
    a process is killed; "kill", it survives that; "synced", it survives the machine, too, and takes
    as long as the disk does. Not every store has each. Default: "kill", or the store's only one."""

    remote: Any
    """The Redis or Valkey by which other machines share the cache: a URL, or a client of the
    package redis (`redis.Redis`, `redis.asyncio.Redis`, one that a Sentinel gave, or a
    `RedisCluster`), whose settings it takes over. Default: none."""

    timeout: Duration | None
    """How long the server may take to answer a command, 1 ms to 60 s. Default: "250ms"."""

    max_staleness: Duration | Literal[0] | None
    """How far a read may be behind writes of other machines, 10 ms to an hour, when a connection
    has died in silence; otherwise it is as far behind as the server's message takes. With 0 every
    read asks the server. Default: "1s"."""

    prefix: str | None
    """What the names of the cache's keys on the server begin with, followed by a colon. It holds no
    "{" and no "}". Default: "polycache"."""

    clock: Callable[[], float] | None
    """Returns milliseconds since 1970; for tests. Default: the system's clock."""
