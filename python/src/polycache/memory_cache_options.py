"""The options of a `MemoryCache`."""

from collections.abc import Callable
from typing import Any, Literal, TypedDict

from .durations import Duration


class MemoryCacheOptions(TypedDict, total=False):
    """The options of a `MemoryCache` beside `max_entries`. None stands for an option's default."""

    max_bytes: int | str | None
    """Most bytes that keys and values take, by an estimate or by `weigher`: a number, or text like
    "64MiB". Default: nothing is weighed."""

    weigher: Callable[[Any, Any], int] | None
    """Called with key and value; returns how many bytes they count of `max_bytes`, a whole number;
    0 counts as 1. Called once, when the entry is stored. Default: an estimate."""

    ttl: Duration | Callable[[Any, Any], Duration | None] | None
    """How long an entry lives if its write does not say, or a function of key and value that says
    so: None is for ever, 0 or less is not at all. Default: until it is evicted."""

    time_to_idle: Duration | None
    """How long an entry stays without being read or written. Default: until it is evicted."""

    policy: Literal["2q-clock"] | None
    """Which entry goes when there is no room (`spec/eviction.md`). Default: "2q-clock"."""

    isolation: Literal["clone", "none"] | None
    """"clone": the cache stores a copy and hands out another (`copy.deepcopy`), so that no caller
    sees what another does to a value. What cannot change (text, bytes, numbers, tuples of those) is
    shared at no cost. "none": the object itself is stored and handed out, of any class. Default:
    "clone"."""

    removal_listener: Callable[[Any, Any, str], object] | None
    """Called with key, value and cause of each entry after it left, without a lock: "replaced",
    "deleted", "expired", "evicted" or "cleared". Its errors go to `sys.unraisablehook`. Default:
    none."""

    lease_timeout: Duration | None
    """How old a load may be before a caller stops waiting for it and loads beside it, 63 ms to 8
    hours. Default: "30s"."""

    wait_timeout: Duration | None
    """How long a caller waits for the loads of others before it gets `WaitTimeout`, 1 ms to 24
    hours. Default: "60s"."""

    store_errors: Literal["report", "raise"] | None
    """What becomes of a loaded value that cannot be stored: "report" hands it to its caller, counts
    it and tells the logger `polycache`; "raise" makes it the error of `set`. Default: "report"."""

    clock: Callable[[], float] | None
    """Returns milliseconds since any instant; for tests. Default: the system's clock."""
