"""What a cache tells about itself."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What a directory holds and what became of the rest.

    The first eight count the operations of one handle, namespaces included; the others are the
    whole directory's, or without one the memory tier's.
    """

    hits: int
    """Reads that found an entry."""
    memory_hits: int
    """Those of them that the memory tier answered."""
    misses: int
    """Reads that found none."""
    writes: int
    """Entries stored."""
    deletes: int
    """Entries deleted."""
    invalidated_loads: int
    """Loads whose value was not stored, because a set, delete, clear, eviction or other load came
    between."""
    unstored: int
    """Loaded values that could not be stored."""
    wait_timeouts: int
    """Callers that got `WaitTimeout`."""
    entries: int
    """Entries in the index, expired and cleared ones included until they are recycled."""
    bytes: int
    """Bytes of disk space taken."""
    limit: int
    """Byte limit; 2**63 - 1 where there is none (`max_bytes` None, without a directory)."""
    max_record: int
    """Bytes of the largest key and entry together."""
    evicted_by_age: int
    """Entries evicted because their block was the oldest."""
    evicted_by_conflict: int
    """Entries evicted because the index had no place for a new key."""
    evicted_by_failed_put: int
    """Old values removed because their replacement could not be stored."""
    expired: int
    """Expired entries that recycling removed."""
    reinserted: int
    """Entries that recycling kept because they had been read."""
    blocks_claimed: int
    """Blocks claimed since the directory was made."""
    floor_overflows: int
    """Clears that found no place for their namespace's floor and cleared a group of namespaces."""
    failed_flushes: int
    """Flushes that failed because the disk refused something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What was done with a directory, by one process or by all."""

    hits: int
    """Reads that found an entry."""
    memory_hits: int
    """Those of them that a memory tier answered."""
    misses: int
    """Reads that found none."""
    writes: int
    """Entries stored."""
    deletes: int
    """Entries deleted."""
    loads: int
    """Loaders that began."""
    failed_loads: int
    """Loaders that ended without a value to store: they failed, or their callers were cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessStats(Activity):
    """What one process has done with a directory since it opened it."""

    pid: int
    """Its process id, as it sees that itself: another container may have the same."""
    handles: int
    """Its open handles that count for themselves."""
    since: int
    """When it opened the first of them, in milliseconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteStats:
    """What a handle did with its remote tier, and how that is."""

    near_hits: int
    """Reads that a copy on this host answered."""
    remote_hits: int
    """Reads that the server answered."""
    round_trips: int
    """Round trips of operations, of one or several commands each; not those of the thread that
    listens."""
    faults: int
    """Reads, writes and loads that had no answer from the server."""
    last_fault: str
    """What the last of them was about; empty when there was none."""
    is_open: bool
    """Whether the circuit breaker is open: commands fail at once."""
    listens: bool
    """Whether copies are served: this host hears of all writes."""
    lag: float | None
    """How far behind the copies may be now, in seconds; None while none are served."""
    refuses_tracking: bool
    """Whether the server refuses to tell of writes, so that every read goes through to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineStats(Activity):
    """What all processes of the machine did with a directory, and what it holds."""

    since: int
    """When the directory was made, in milliseconds since 1970: every count began at 0 then."""
    invalidated_loads: int
    """Loads whose value was not stored, because a set, delete, clear, eviction or other load came
    between."""
    unstored: int
    """Loaded values that could not be stored."""
    wait_timeouts: int
    """Callers that got `WaitTimeout`."""
    entries: int
    """Entries in the index, expired and cleared ones included until they are recycled."""
    bytes: int
    """Bytes of disk space taken."""
    limit: int
    """Byte limit."""
    evicted_by_age: int
    """Entries evicted because their block was the oldest."""
    evicted_by_conflict: int
    """Entries evicted because the index had no place for a new key."""
    evicted_by_failed_put: int
    """Old values removed because their replacement could not be stored."""
    expired: int
    """Expired entries that were removed."""
    processes: list[ProcessStats]
    """The processes that have the directory open, the one with the most reads first."""

    @classmethod
    def _of(cls, processes: list[dict[str, int]], **counts: int) -> "MachineStats":
        return cls(processes=[ProcessStats(**one) for one in processes], **counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the entries of one namespace take; those of namespaces nested in it are not its own."""

    namespace: list[str]
    """The namespace's parts; none for the root."""
    entries: int
    """Entries that a read would find."""
    bytes: int
    """Bytes of their records: key, value and header; of large values whole blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What `check` found."""

    whole: int
    """Entries whose checksums agree."""
    damaged: list[str]
    """Why each damaged entry is damaged; at most a hundred."""
    leases: int
    """Loads under way."""
