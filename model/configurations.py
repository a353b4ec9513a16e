"""Which operations meet on which slots."""

from __future__ import annotations

from itertools import combinations_with_replacement

from explore import Configuration
from operations import OPERATIONS

# A neighbour in the first slot, which may leave, so that inserters choose different slots. The same
# with the key after it. Nothing.
STARTS = ("o..", "ov.", "...")

PAIRS = [
    Configuration(kinds, slots, evictions=1, moves=1, kills=1)
    for kinds in combinations_with_replacement(OPERATIONS, 2)
    for slots in STARTS
]

# The configurations of `make test`: every promise and every rule takes part in one.
TRIPLES = [
    Configuration(("put", "put", "delete")),
    Configuration(("put", "put", "delete"), "ov.", moves=1),
    Configuration(("put", "put", "clear"), evictions=1),
    Configuration(("put", "put", "clear"), "ov."),
    Configuration(("put", "put", "read"), "ov.", moves=1),
    Configuration(("put", "clear", "read")),
    Configuration(("put", "clear", "clear"), "ov."),
    Configuration(("put", "delete", "clear")),
    Configuration(("load", "put", "clear")),
    Configuration(("load", "put", "delete")),
    Configuration(("load", "load", "put")),
    Configuration(("load", "load", "delete"), evictions=1),
    Configuration(("load", "load", "clear"), "ov."),
    Configuration(("load", "beside", "put")),
    Configuration(("load", "beside", "delete")),
    Configuration(("load", "beside", "clear")),
    Configuration(("load", "beside", "beside")),
    Configuration(("load", "beside", "read"), kills=1),
    # Full: an inserter takes a neighbour's slot, or a lease.
    Configuration(("put", "put", "load"), "ooo", neighbours_leave=0),
]

QUICK = PAIRS + TRIPLES

# A minute for each; the largest are cut off, and say so.
ALL = PAIRS + [
    Configuration(kinds, slots, evictions=1, moves=1)
    for kinds in combinations_with_replacement(OPERATIONS, 3)
    for slots in STARTS
    if set(kinds) != {"read"}
]
ALL += [
    Configuration(("load", "beside", "put"), kills=1),
    Configuration(("load", "load", "delete"), kills=1),
    Configuration(("put", "put", "load"), "ooo", kills=1),
    Configuration(("load", "beside", "put", "clear")),
    Configuration(("load", "beside", "put", "delete")),
    Configuration(("put", "put", "clear", "clear"), "..."),
    Configuration(("put", "put", "clear", "read"), "..."),
]

# For the search with a rule left out: small, so that the story is short.
SMALL = [
    *(Configuration(kinds) for kinds in combinations_with_replacement(OPERATIONS, 2)),
    Configuration(("put", "put", "clear")),
    Configuration(("load", "beside", "put")),
    Configuration(("load", "beside", "delete")),
    Configuration(("load", "beside", "clear")),
]
