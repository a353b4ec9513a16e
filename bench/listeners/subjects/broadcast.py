"""Bare connections in place of hosts, to the server that is written to."""

from bare import Bare

from subject import serve


class Broadcast(Bare):
    name = "broadcast"


if __name__ == "__main__":
    serve(Broadcast)
