"""Gathers outcomes into rows: a round is a trace, a hit ratio is a sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.row import HIT_RATIO, Row

from .simulator import Outcome


def rows(outcomes: Iterable[Outcome], policies: Sequence[str]) -> list[Row]:
    """By workload as they came, then by capacity, then in the order of `policies`."""
    known = list(outcomes)
    workloads = list(dict.fromkeys(one.workload for one in known))
    known.sort(
        key=lambda one: (
            workloads.index(one.workload),
            one.capacity,
            policies.index(one.policy),
            one.round,
        )
    )
    all_rows: dict[tuple[str, int, str], Row] = {}
    for one in known:
        key = (one.workload, one.capacity, one.policy)
        row = all_rows.setdefault(key, _row(one))
        if not one.error:
            row.samples.append(one.hit_ratio)
    return _absent_once(list(all_rows.values()))


def _row(one: Outcome) -> Row:
    notes = [*one.notes, f"{one.requests} requests"]
    operation = f"capacity {one.capacity}"
    return Row(one.workload, one.policy, operation, HIT_RATIO, notes=notes, failure=one.error)


def _absent_once(all_rows: list[Row]) -> list[Row]:
    """A policy that is not available at all, for one reason, is one row a workload, as in other
    benchmarks. If only some capacities are too small for it, each has a row."""
    reasons: dict[str, set[str]] = {}
    for row in all_rows:
        reasons.setdefault(row.subject, set()).add(row.failure)
    absent = {name for name, found in reasons.items() if len(found) == 1 and found != {""}}
    present = [row for row in all_rows if row.subject not in absent]
    once = {(row.workload, row.subject): row for row in all_rows if row.subject in absent}
    return present + [
        Row(row.workload, row.subject, "-", failure=row.failure) for row in once.values()
    ]
