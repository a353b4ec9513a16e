"""Bare connections to a replica. The server that is written to has one connection more."""

import redis
from bare import Bare
from listening import wait

from subject import serve


class BroadcastReplica(Bare):
    name = "broadcast-replica"
    notes = ("the work of the primary; hosts listen to its replica",)

    def start(self) -> list[int]:
        primary = self.server("CONFIG", "SET", "repl-diskless-sync-delay", "0")
        self.replica = self.server("REPLICAOF", "127.0.0.1", str(primary))
        replica = redis.Redis(port=self.replica)
        wait(
            "a replica that follows",
            lambda: replica.info("replication")["master_link_status"] == "up",
        )
        return [primary]

    def told_by(self) -> list[int]:
        return [self.replica]


if __name__ == "__main__":
    serve(BroadcastReplica)
