"""The benchmarks as sections of the page: what each is called, which published page it grew out of,
and which of its rows its pictures show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.limits import is_limit

from .figures import Figure, Results


@dataclass(frozen=True)
class Bench:
    """`page` is the file in published/. `main` finds the workloads of the seed's main table, in
    which case does not matter. Where it finds none, the first workload is the main one."""

    name: str
    title: str
    about: str
    page: str = ""
    main: str = ""

    def is_limit(self, one: Figure) -> bool:
        return is_limit(self.name, one.subject, one.operation)

    def main_workloads(self, results: Results) -> Sequence[str]:
        found = [w for w in results.workloads if self.main and re.search(self.main, w, re.I)]
        return found[:MOST_MAIN] or results.workloads[:1]


# More would be a second table of figures instead of a picture.
MOST_MAIN = 4

BENCHES = (
    Bench(
        "memory",
        "One process' memory",
        "Caches in the memory of one Node or Bun process. Isolation decides what a hit costs: a "
        "caller that changes the cache's own object changes the cache; a copy is safe.",
        page="1-ts-cache",
        main=r"small value|batch",
    ),
    Bench(
        "memory-python",
        "One Python process' memory",
        "Caches that hand out the objects themselves, and functions memoized in them. The row over "
        "the host tier is shared by every process of the machine.",
        main=r"text",
    ),
    Bench(
        "memory-ruby",
        "One Ruby process' memory",
        "ActiveSupport's MemoryStore copies what it is given and hands out copies; lru_redux hands "
        "out the object itself. Compare within a class.",
        main=r"hash|small",
    ),
    Bench(
        "redis",
        "Redis clients",
        "Clients of Redis on Node and Bun, a server on the loopback interface, one request at a "
        "time. Every client encodes and decodes the same values.",
        page="1-ts-cache",
        main=r"small|batch",
    ),
    Bench(
        "namespace",
        "Namespaces on Redis",
        "What a namespace costs a Ruby program, beside the bare clients, which have none.",
        page="2-redis-client-namespace",
        main=r"round trips|time$",
    ),
    Bench(
        "disk",
        "Disk caches",
        "Caches on disk, in Python. The notes say what a write survives once it has returned "
        "(durability) and whether values are compressed: compare within a class.",
        page="3-python-disk-caches",
        main=r"^10000 entries, 1000 bytes each$",
    ),
    Bench(
        "disk-growth",
        "Disk caches that grow",
        "An empty store grows to ten million entries, in Python: what an operation and an entry "
        "cost at each size. The notes say what a write survives once it has returned.",
        main=r"^10000000 entries",
    ),
    Bench(
        "http",
        "HTTP servers",
        "Servers of Node and Bun that answer every request with one Redis stream (XRANGE over "
        "all of it; the original page calls it xread).",
        page="4-http-redis-servers",
    ),
    Bench(
        "codec",
        "Caches, serializers and compressors",
        "Rust caches, and what values are encoded and compressed with.",
        page="5-skp-cache",
        main=r"^throughput$|^(serializers|configurations), large$|^compression, 10 KB of JSON$",
    ),
    Bench(
        "host",
        "The host tier",
        "One cache shared by all processes of a machine, beside stores that can be shared like "
        "that. Grew out of no page. The notes say what a write survives once it has returned.",
        main=r"100 B, 10k keys",
    ),
    Bench(
        "hit-ratio",
        "Hit ratios",
        "Eviction policies over one trace, each with the same number of entries. OPT knows the "
        "future: no policy can find more.",
    ),
)


def bench_of(name: str) -> Bench:
    """The section of a results file, also of one that this list does not know."""
    known = (one for one in BENCHES if one.name == name)
    return next(known, Bench(name, name, "A benchmark that this page has no words for yet."))
