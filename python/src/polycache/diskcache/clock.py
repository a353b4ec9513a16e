"""The time, which tests set."""

import time


def timestamp() -> float:
    """Seconds since 1970."""
    return time.time()
