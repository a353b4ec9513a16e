"""How long a caller waits before it asks again whether another's load has ended."""

from time import monotonic

_SHORTEST = 0.0001
_LONGEST = 0.02


class Backoff:
    """Naps that grow with the time waited so far: an eighth of it, 0.1 ms to 20 ms."""

    def __init__(self) -> None:
        self._started = monotonic()

    def seconds(self) -> float:
        """The next nap."""
        waited = monotonic() - self._started
        return min(max(waited / 8, _SHORTEST), _LONGEST)
