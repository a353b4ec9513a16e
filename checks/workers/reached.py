"""How a worker reaches servers; see ../src/reached.rs."""

from typing import Any


def reached(name: str) -> Any:
    """The server, the primary or the Cluster of this name. Nothing is connected yet."""
    kind, _, ports = name.partition(":")
    if kind not in ("cluster", "sentinel"):
        return name
    import redis.asyncio.cluster
    import redis.sentinel

    nodes = [("127.0.0.1", int(port)) for port in ports.split(",")]
    if kind == "sentinel":
        # redis-py gives no types for it.
        sentinel: Any = redis.sentinel.Sentinel
        return sentinel(nodes).master_for("main")
    # That of asyncio, because the other one connects when it is made.
    cluster = redis.asyncio.cluster
    return cluster.RedisCluster(startup_nodes=[cluster.ClusterNode(*node) for node in nodes])
