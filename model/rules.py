"""The rules of the protocol that can be left out, one at a time, and what must happen then.

The names are those that `check.py --without` takes.
"""

from __future__ import annotations

# Left out, each of them breaks a promise, and the model must say so.
NEEDED = {
    "insert-leases-first": "a put leases an empty slot before it stores its value there",
    "insert-rescans": "who leased a slot looks at the key's other slots before it goes on",
    "insert-voids-leases": "a put that inserts voids the leases it meets in other slots",
    "loader-yields": "a loader that meets another lease in its rescan gives its own back",
    "delete-voids-leases": "a delete empties leases too, not only values",
    "later-record-stays": "a put does not replace a record born after its own",
    "born-before-load": "a load notes the clock before its loader begins, not after",
    "clear-ticks": "a clear takes a new tick of the clock",
    "clear-moves-epoch": "a clear moves EPOCH, so that readers look up their floors again",
    "beside-rescans": "who loads beside a holder looks at the key's other slots first",
    "beside-over-its-word": "who loads beside a holder stores over the very word it noted",
    "fill-over-its-word": "a load stores over its own lease only, not over whatever stands there",
}

# Left out, each of them costs work and no promise, as what follows is a compare-and-swap.
SAVING = {
    "loader-looks-again": "a loader sees that its lease still stands before its loader begins",
    "beside-looks-again": "who loads beside sees that the word still stands before it begins",
}

ALL = NEEDED | SAVING
