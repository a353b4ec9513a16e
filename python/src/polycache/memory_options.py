"""The options of a `MemoryCache`."""

from collections.abc import Callable
from typing import Any, Literal, TypedDict

from .durations import Duration


class MemoryOptions(TypedDict, total=False):
    """The options of a `MemoryCache` beside `maxsize`. None stands for an option's default."""

    max_bytes: int | str | None
    """How many bytes keys and values take at most, by an estimate: a number, or text like "64MiB".
    Default: nothing is weighed. Not together with `getsizeof`."""

    getsizeof: Callable[[Any], int] | None
    """What a value counts of `maxsize`, a whole number; 0 is taken for 1. Default: what the method
    `getsizeof` of a subclass says, else 1."""

    ttl: Duration | Callable[[Any, Any], Duration | None] | None
    """How long an entry lives when its write does not say, or what says so of a key and a value:
    None is for ever, 0 or less is not at all. Default: until it is evicted."""

    time_to_idle: Duration | None
    """How long an entry stays without being read or written. Default: until it is evicted."""

    policy: Literal["2q-clock"] | None
    """Which entry goes when there is no room (`spec/eviction.md`)."""

    isolation: Literal["none", "clone"] | None
    """"none", the default: what is stored is what is handed out, the object itself, as
    `functools.lru_cache` does. "clone": what is stored is a copy, and so is what is handed out,
    each time (`copy.deepcopy`)."""

    listener: Callable[[Any, Any, str], object] | None
    """Called with key, value and cause of each entry that left, after it left, without a lock:
    "replaced", "deleted", "expired", "evicted" or "cleared". What it raises goes to
    `sys.unraisablehook`."""

    lease_timeout: Duration | None
    """How old a load may be before a caller stops waiting for it and loads beside it, 63 ms to 8
    hours. Default: "30s"."""

    wait_timeout: Duration | None
    """How long a caller waits for the loads of others before it gets `WaitTimeout`, 1 ms to 24
    hours. Default: "60s"."""

    store_errors: Literal["report", "raise"] | None
    """What becomes of a loaded value that cannot be stored: "report", the default, hands it to its
    caller, counts it and tells the logger `polycache`; "raise" makes it the error of `set`."""

    clock: Callable[[], float] | None
    """Returns milliseconds since any instant; for tests. Default: the system's clock."""
