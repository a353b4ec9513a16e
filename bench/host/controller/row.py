"""What was measured: a subject doing one operation under one workload."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.row import NANOSECONDS, Measured

from .workload import Workload

# Reads of ours alone: without a memory tier over the host tier, with one that holds all keys, and
# with one that holds a tenth of them.
TIERED = ("get without memory tier", "get with all in memory", "get with a tenth in memory")
# What the slowest of 100 and of 1,000 operations took, each timed by itself.
P99, P999 = "ns, 99th percentile", "ns, 99.9th percentile"
# What a store takes on the disk, in a workload that grows.
SPACE, BYTES_PER_ENTRY = "space", "bytes per entry"
# A listing of all keys.
KEYS = "keys"
# Operations of one family do the same for their caller.
FAMILIES = ("put", "get", *TIERED, KEYS, "mixed")


@dataclass
class Row(Measured):
    """`failure` says why there is no figure, if so."""

    language: str
    workload: Workload
    subject: str
    operation: str
    durability: str
    unit: str = NANOSECONDS
    samples: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failure: str = ""

    @property
    def family(self) -> str:
        return self.operation.split(",")[0]


def find(
    rows: list[Row], language: str, workload: Workload, subject: str, operation: str
) -> Row | None:
    """The measured row, if there is one."""
    for row in rows:
        if row.measured and (row.language, row.workload, row.subject, row.operation) == (
            language,
            workload,
            subject,
            operation,
        ):
            return row
    return None
