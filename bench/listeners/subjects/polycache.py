"""Caches with a remote tier, each with a directory of its own: so many hosts, in one process."""

from __future__ import annotations

import resource
from collections.abc import Mapping
from time import monotonic
from typing import Any

import polycache
from listening import PIPELINED, PREFIX, Listeners, wait

from subject import Run, serve

LIMIT = "2MiB"


class Hosts(Listeners):
    name = "polycache"
    notes = ("all hosts are threads of one process",)

    def listen(self) -> None:
        url = f"redis://127.0.0.1:{self.servers[0]}"
        self.caches = [
            polycache.Cache(str(self.directory / str(host)), limit=LIMIT, remote=url, prefix=PREFIX)
            for host in range(self.hosts)
        ]
        for cache in self.caches:
            cache.get("key")
        wait("hosts that listen", lambda: all(_listens(cache) for cache in self.caches))

    def settle(self, told: int) -> None:
        # A host that has heard of a beacon of now has heard of all that was written before.
        begin = monotonic()
        for cache in self.caches:
            wait("a host that heard", lambda cache=cache: _lag(cache) < monotonic() - begin)

    def operations(self) -> Mapping[str, tuple[str, Run]]:
        def push(seconds: float) -> float:
            before = _worked()
            written, _ = self.writes(seconds, pipelined=True)
            self.settle(0)
            return (_worked() - before) / written / self.hosts * 1e6

        # With the writer's own work, which is of this process, too.
        name = f"{PIPELINED}: a host's own work, and its share of the writer's"
        return {**super().operations(), name: ("µs of a host a SET", push)}

    def close(self) -> None:
        for cache in self.caches:
            cache.close()
        super().close()


def _lag(cache: Any) -> float:
    stats = cache.remote_stats()
    return stats.lag if stats and stats.lag is not None else float("inf")


def _listens(cache: Any) -> bool:
    stats = cache.remote_stats()
    return bool(stats and stats.listens)


def _worked() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    serve(Hosts)
