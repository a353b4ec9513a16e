"""What our subjects share."""

from __future__ import annotations

from typing import ClassVar

import polycache

from diskbench.store import NO, Place, Store

# The limit that leaves nothing to evict: twice what the entries take, and more where they are
# overwritten. The index is a fixed share of the limit (spec/host.md): small entries need more.
OVERHEAD, LEAST_ROOM_A_KEY, LEAST_ROOM, CHURN = 96, 800, 4 << 20, 8


class PolycacheStore(Store):
    compression: ClassVar[str] = NO
    notes = ("host tier", "a byte limit with room for all")
    compressor: ClassVar[str] = "none"

    def __init__(self, place: Place) -> None:
        room = max(2 * (place.size + OVERHEAD), LEAST_ROOM_A_KEY)
        if place.churn:
            room *= CHURN
        self.cache = polycache.Cache(
            place.directory / "cache",
            limit=max(LEAST_ROOM, place.keys * room),
            compressor=self.compressor,
            # The disk's tier is measured: every get decodes text.
            memory=False,
        )
        # Text goes in and comes out.
        self.set, self.get, self.delete = self.cache.set, self.cache.get, self.cache.delete

    def close(self) -> None:
        self.cache.close()
