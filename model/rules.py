"""The rules of the protocol that can be left out, one at a time, and what must happen then.

The names are those that `check.py --without` takes.
"""

from __future__ import annotations

# Leaving out any of these breaks a promise, and the model must say so.
NEEDED = {
    "insert-leases-first": "a put leases an empty slot before it stores its value there",
    "insert-rescans": "an inserter checks the key's other slots after it leased a slot",
    "insert-invalidates-leases": "an inserting put invalidates the leases it meets in other slots",
    "loader-yields": "a loader that meets another lease in its rescan gives its own back",
    "delete-invalidates-leases": "a delete empties leases too, not only values",
    "later-record-stays": "a put does not replace a record born after its own",
    "born-before-load": "a load notes the count of clears before its loader begins, not after",
    "clear-counts": "a clear adds one to the count of clears",
    "clear-moves-epoch": "a clear moves EPOCH, so that readers look up their floors again",
    "beside-rescans": "a load beside a holder checks the key's other slots first",
    "beside-over-its-word": "a load beside a holder stores only over the word that it noted",
    "fill-over-its-word": "a load stores over its own lease only, not over whatever stands there",
}

# Leaving out any of these costs work but breaks no promise, because a compare-and-swap follows.
SAVING = {
    "loader-looks-again": "a loader sees that its lease still stands before its loader begins",
    "beside-looks-again": "a load beside a holder first checks that the word still stands",
}

ALL = NEEDED | SAVING
