"""What a server reaches of its limit: the same framework that sends the same bytes from memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.row import OF_THE_LIMIT, TIMES_THE_LIMIT, Row
from harness.spread import quotient

CONSTANT = "constant-"
# What has another name than the framework below it.
BUILT_ON = {"polycache-http-value-serve": "constant-axum"}
# What is divided, and the unit of the quotient.
COMPARED = {
    "requests": OF_THE_LIMIT,
    "latency 99%": TIMES_THE_LIMIT,
    "CPU": TIMES_THE_LIMIT,
}


def limit_of(subject: str, subjects: Sequence[str]) -> str | None:
    """The constant of its framework, if it is among the subjects: `constant-bun-hono` of
    `redis-bun-hono`."""
    if subject in BUILT_ON:
        return BUILT_ON[subject] if BUILT_ON[subject] in subjects else None
    constants = [one for one in subjects if one.startswith(CONSTANT)]
    return next((one for one in constants if subject.endswith(_server(one))), None)


def family(subject: str, subjects: Sequence[str]) -> str:
    """Equal for those that have one limit, and for it."""
    return limit_of(subject, subjects) or subject


def beside_limits(rows: Sequence[Row]) -> Iterator[Row]:
    """For each row of our cached reads another one beside its limit, round by round: the two had
    their turns within seconds, so both met the same disturbances of the machine."""
    subjects = list(dict.fromkeys(row.subject for row in rows))
    measured = {(row.subject, row.operation): row for row in rows if row.measured}
    for (subject, operation), row in measured.items():
        if operation not in COMPARED or not subject.startswith("polycache-http-"):
            continue
        limit = measured.get((limit_of(subject, subjects) or "", operation))
        if limit is None or len(limit.samples) != len(row.samples):
            continue
        unit = COMPARED[operation]
        pairs = zip(row.samples, limit.samples, strict=True)
        yield Row(
            row.workload,
            subject,
            f"{operation}, {unit}",
            unit,
            samples=[quotient(one, other) for one, other in pairs],
            notes=[f"the limit is {limit.subject}"],
        )


def _server(constant: str) -> str:
    return "-" + constant.removeprefix(CONSTANT)
