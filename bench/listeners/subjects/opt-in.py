"""Connections that are told of what they have read, and of nothing else.

Nobody reads what is written here. Not what ours do: a host would have to send its reads by the
connection that hears.
"""

from bare import Bare
from connections import Connections
from listening import Listeners

from subject import serve


class OptIn(Bare):
    name = "opt-in"
    notes = ("default tracking; no host has read what is written", "no pushes")

    def listen(self) -> None:
        self.connections = Connections()
        for host in range(self.hosts):
            tracking = ("CLIENT", "TRACKING", "ON")
            self.connections.open(self.servers[0], tracking, ("GET", f"of-a-host:{host}"))
        self.connections.start()

    def settle(self, told: int) -> None:
        """No host is told."""

    def operations(self):  # type: ignore[no-untyped-def]
        return {name: run for name, run in Listeners.operations(self).items() if name != "pushes"}


if __name__ == "__main__":
    serve(OptIn)
