"""Bare connections to two servers, each of which has half of the keys."""

from bare import Bare

from subject import serve


class BroadcastTwoPrimaries(Bare):
    name = "broadcast-two-primaries"
    notes = ("the work of both, a SET; each host has a connection to either",)

    def start(self) -> list[int]:
        return [self.server(), self.server()]


if __name__ == "__main__":
    serve(BroadcastTwoPrimaries)
