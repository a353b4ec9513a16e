"""Hosts that are connections alone, armed as ours are."""

from __future__ import annotations

from connections import Connections
from listening import PREFIX, Listeners


class Bare(Listeners):
    def listen(self) -> None:
        self.connections = Connections()
        for host in range(self.hosts):
            beacons = f"{PREFIX}%{host:016x}:"
            tracking = ("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", f"{PREFIX}:")
            for port in self.told_by():
                self.connections.open(port, (*tracking, "PREFIX", beacons))
        self.connections.start()

    def told_by(self) -> list[int]:
        """The ports of the servers that tell of writes: each host listens to all of them."""
        return self.servers

    def settle(self, told: int) -> None:
        self.connections.settle(told)

    def close(self) -> None:
        self.connections.close()
        super().close()
