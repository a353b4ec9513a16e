"""Chooses a content coding by the field Accept-Encoding (RFC 9110 12.5.3)."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

_ELEMENT = re.compile(
    r"([!#$%&'*+.^_`|~0-9a-z-]+)(?:[ \t]*;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?"
)


def choose_coding(field: str | None, codings: Sequence[str], is_small: bool) -> str | None:
    """The coding for a request: one of `codings`, which are in the server's order of preference;
    "identity" for the bytes as they are; None where the client accepts nothing that there is.

    A client without the field gets the bytes as they are, though it would have to accept any
    coding. Small bytes are compressed only for a client that accepts nothing else.
    """
    if not field:
        return "identity"
    weights = _weights(field)
    others = weights.get("*")
    identity = weights.get("identity")
    accepts_identity = others != 0 if identity is None else identity > 0
    if is_small and accepts_identity:
        return "identity"
    best: str | None = None
    # An identity that is not named is acceptable, and less so than a coding that is.
    weight = (identity or 0.0) if accepts_identity else 0.0
    for coding in codings:
        its = weights.get(coding, others or 0.0)
        if (its > 0 and its >= weight) if best is None else its > weight:
            best, weight = coding, its
    return best or ("identity" if accepts_identity else None)


# Clients of one program send the same field again and again.
@lru_cache(64)
def _weights(field: str) -> Mapping[str, float]:
    """What is no coding with a weight is skipped."""
    found: dict[str, float] = {}
    for element in field.lower().split(","):
        match = _ELEMENT.fullmatch(element.strip(" \t"))
        if match is not None:
            coding, weight = match.groups()
            found["gzip" if coding == "x-gzip" else coding] = (
                1.0 if weight is None else float(weight)
            )
    return found
