"""How long it takes until a server answers with a change."""

from __future__ import annotations

import time
from dataclasses import dataclass

from .client import Client

# `maxStaleness` of stream.ts, in seconds.
BOUND = 1.0
# Seconds after which a change counts as lost.
PATIENCE = 30


@dataclass(frozen=True)
class Seen:
    """`requests` is how many were answered until the change was seen, with that one; 0 if it
    never was. `after` is the time from the change to that response, in seconds. `late` counts the
    responses without the change to requests that were sent when the bound was over."""

    requests: int
    after: float
    late: int

    @property
    def good(self) -> bool:
        return self.requests > 0 and self.late == 0


def wait_for(client: Client, identifier: str, changed: float) -> Seen:
    """Asks again and again for the stream, which has a new entry since `changed` (of
    time.monotonic())."""
    number = late = 0
    while time.monotonic() < changed + PATIENCE:
        number += 1
        response = client.ask()
        if f'"{identifier}"'.encode() in response.body:
            return Seen(number, response.received - changed, late)
        late += response.sent > changed + BOUND
    return Seen(0, PATIENCE, late)
