"""What the slowest operations take: each one is timed by itself."""

from __future__ import annotations

from harness.worker import Unavailable, reason

from .place import Opened, open_filled, wipe
from .row import P99, P999, Row
from .setting import Setting
from .subjects import Subject
from .workload import Workload

LANGUAGE = "rust"
SUBJECTS = ("polycache-store", "lmdb")
OPERATIONS = ("put", "get")
# Operations of a round: ten of them are beyond the 99.9th percentile.
COUNT = 10_000
PERCENTILES = {P99: "p99", P999: "p999"}


def tails(subjects: list[Subject], workload: Workload, setting: Setting) -> list[Row]:
    """Rows of percentiles. The subjects take turns; each round is of [`COUNT`] operations."""
    opened: list[Opened] = []
    failed: list[Row] = []
    try:
        for subject in subjects:
            try:
                directory = setting.stores / subject.name
                opened.append(open_filled(subject, workload, setting, directory))
            except Unavailable as error:
                failed.append(_failure(workload, subject.name, reason(error)))
        rows = [
            (store, operation, _rows(workload, store, operation))
            for operation in OPERATIONS
            for store in opened
            if operation in store.operations
        ]
        rounds = setting.pace.rounds
        for number in range(rounds + 1):
            for store, operation, by_unit in rows:
                reply = store.worker.ask(command="tail", operation=operation, count=COUNT)
                if number > 0:  # The first round warms up.
                    for unit, row in by_unit.items():
                        row.samples.append(reply[PERCENTILES[unit]])
                share = 1 / len(rows) / (rounds + 1)
                setting.step(share, f"tails, {workload.name}: round {number} of {rounds}")
    except Unavailable as error:
        return [*failed, _failure(workload, SUBJECTS[0], reason(error))]
    finally:
        for store in opened:
            store.worker.close()
        wipe(setting.stores)
    return failed + [row for unit in PERCENTILES for *_, by_unit in rows for row in [by_unit[unit]]]


def _rows(workload: Workload, store: Opened, operation: str) -> dict[str, Row]:
    return {
        unit: Row(LANGUAGE, workload, store.subject, operation, store.operations[operation], unit)
        for unit in PERCENTILES
    }


def _failure(workload: Workload, subject: str, why: str) -> Row:
    return Row(LANGUAGE, workload, subject, "-", "-", P99, failure=why)
