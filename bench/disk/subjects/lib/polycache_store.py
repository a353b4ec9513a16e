"""What our subjects share."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import polycache

from diskbench.store import NO, Place, Store

# The limit that leaves nothing to evict: twice what the entries take, and more where they are
# overwritten. The index is a fixed share of the limit (spec/host.md): small entries need more. A
# store that grows does without that: how many it evicts for it is measured.
DEFAULT_LIMIT = 256 << 20
OVERHEAD, LEAST_ROOM_A_KEY, LEAST_ROOM, CHURN = 96, 800, 4 << 20, 8


class PolycacheStore(Store):
    compression: ClassVar[str] = NO
    notes = ("host tier", "a byte limit with room for all")
    compressor: ClassVar[str] = "none"
    # Another library's store below the cache.
    store: ClassVar[str] = "host"
    store_durability: ClassVar[Literal["none", "kill", "synced"]] = "kill"
    has_conflicts = True

    def __init__(self, place: Place) -> None:
        room = 2 * (place.size + OVERHEAD)
        if not place.growing:
            room = max(room, LEAST_ROOM_A_KEY)
        if place.churn:
            room *= CHURN
        limit = max(LEAST_ROOM, place.keys * room)
        self.cache = polycache.Cache(
            place.directory / "cache",
            # Another store's buffers are parts of its limit, too: the default has the usual ones.
            limit=limit if self.store == "host" else max(DEFAULT_LIMIT, 4 * limit),
            compressor=self.compressor,
            **self.options(),
        )
        # Text goes in and comes out.
        self.set, self.get, self.delete = self.cache.set, self.cache.get, self.cache.delete

    def options(self) -> dict[str, Any]:
        if self.store == "host":
            # The disk's tier is measured: every get decodes text.
            return {"memory": False}
        return {"store": self.store, "durability": self.store_durability}

    def conflicts(self) -> int:
        return self.cache.stats().evicted_by_conflict

    def close(self) -> None:
        self.cache.close()
