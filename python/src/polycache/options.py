"""The options of a cache: the keyword arguments of `Cache` and `AsyncCache`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from .durations import Duration
from .registered_types import Type


class Memory(TypedDict, total=False):
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
    numbers, ...) is kept and shared; lists, dicts and sets are made anew from their bytes for each
    reader. "none": everything is kept, and readers are given the same object until it is set again.
    Default: "clone"."""


class EncryptionKey(TypedDict):
    """A key of AES-256-GCM."""

    id: int
    """Stands in every entry that the key encrypts: 0 to 2**32 - 1."""

    key: bytes
    """32 random bytes, from a secret store: `secrets.token_bytes(32)` makes some."""


class Options(TypedDict, total=False):
    """Every option has a default; None stands for it. An unknown one is `InvalidArgument`."""

    namespace: str | Sequence[str] | None
    """One part as text, or a list of parts. Default: none."""

    ttl: Duration | None
    """How long an entry lives when its write does not say. Default: until it is evicted."""

    jitter: float | Duration | None
    """By how much the cache's `ttl` is shortened, at random for each write, so that entries written
    together do not expire together: a number from 0 to below 1 is a part of it (0.1: a tenth at
    most), all else a duration that is shorter; 1, which could be either, is refused. A `ttl` that a
    write gives is taken as it is. Default: none."""

    limit: int | str | None
    """Bytes of everything in the directory, as a number or as text like "64MiB", 2 MiB to 1 TiB.
    Default: the existing directory's, or 256 MiB for a new one."""

    max_value: int | str | None
    """Most bytes of a value before compression that is read or written (`ValueTooLarge`): what a
    hostile entry may make this process allocate. A number, or text like "64MiB".
    Default: "64MiB"."""

    serializer: Literal["messagepack", "json", "text", "bytes"] | None
    """How values become bytes. Default: "messagepack", which takes every row of the type map."""

    compressor: str | None
    """What makes the bytes fewer: "none", "smart" (zstd where it is worth it, value by
    value), "zstd" (level 3) or "zstd:1" to "zstd:22".
    Default: "none"."""

    dictionaries: Sequence[bytes] | None
    """Trained zstd dictionaries for the compressor, which is "smart" or zstd: with one, values of a
    few hundred bytes become fewer, too. The first compresses, every one of them decompresses, so
    that a new one can take over. `polycache train-dictionary` makes one from samples. An entry
    whose dictionary is missing here is `UnknownDictionary`. Default: none."""

    encryption: Sequence[EncryptionKey] | None
    """Keys that values are encrypted with, by AES-256-GCM: the first one encrypts, every one of
    them decrypts, so that keys can be changed. Plain entries are then refused as `NotEncrypted`.
    Keys of the cache, sizes and times stay readable. One key is good for 2**32 entries.
    Default: values are stored as they are."""

    types: Mapping[str, type | Type[Any]] | None
    """Types of the program's own, by name: `{"user": User}`. A value of such a class is written as
    its name and a value of the type map, and comes back as an object of that class, each reader's
    own, in every process and language that has registered the name. One that has not gets a
    `Named`. Dataclasses, attrs classes, named tuples, pydantic models and enums need no more than
    their class, others a `polycache.Type`. Default: none."""

    lease_timeout: Duration | None
    """How old a load may be before a caller stops waiting for it and loads beside it, 63 ms to 8
    hours. A holder whose process dies does not count: its key is free at once. Default: "30s"."""

    wait_timeout: Duration | None
    """How long a caller waits for the loads of others before it gets `WaitTimeout`, 1 ms to 24
    hours. Default: "60s"."""

    store_errors: Literal["report", "raise"] | None
    """What becomes of a loaded value that cannot be stored: "report" hands it to its caller, counts
    it and tells the logger `polycache`; "raise" makes it the error of `set`. Default: "report"."""

    keep_after_reboot: bool | None
    """Keeps what is whole after a reboot, though it may be older than the last write, or deleted
    since. With False a reboot empties the cache. Default: False."""

    memory: Memory | bool | None
    """What this process used last is kept as objects, and served while no process of the machine
    has changed it (`spec/memory.md`). False: every read goes to the directory. Without a directory
    it is the cache itself. Default: True."""

    clock: Callable[[], float] | None
    """Returns milliseconds since 1970; for tests. Default: the system's clock."""
