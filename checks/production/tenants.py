"""Namespaces: every tenant can be cleared, as often as anybody likes."""

from __future__ import annotations

import polycache
from cases import Place, case, expect

GROUP = "tenants"


@case(
    GROUP, "1,000,000 namespaces cleared in turn", "an unrelated entry stands; clears take effect"
)
def many_clears(place: Place) -> str:
    count = place.many(1_000_000, 20_000)
    with polycache.Cache(place.path, limit="64MiB") as cache:
        cache.namespace("keep").set("k", 2)
        lost = wrong = 0
        for number in range(count):
            tenant = cache.namespace(f"tenant{number}")
            if number % 1_000 == 0:
                tenant.set("k", 1)
            tenant.clear()
            if number % 1_000 == 0:
                wrong += tenant.get("k", default=None) is not None
                if cache.namespace("keep").get("k", default=None) != 2:
                    lost += 1
                    cache.namespace("keep").set("k", 2)
        outcome = f"lost {lost} times, {wrong} clears without effect"
        expect((lost, wrong) == (0, 0), outcome)
    return outcome
