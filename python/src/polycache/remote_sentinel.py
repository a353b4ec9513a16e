"""The primary that a Sentinel of the package redis names, for connections of threads.

Sentinels are asked by clients of our own: those of the program may be asyncio's, and may wait for
ever for one that hangs.
"""

from typing import Any

from .errors import InvalidArgument


class SentinelPools:
    """Pools that know who the primary is, one for each timeout. They keep no connections to it."""

    def __init__(self, pool: Any) -> None:
        if not pool.is_master:
            raise InvalidArgument(
                "remote takes the primary of a Sentinel (master_for), not its replicas "
                "(slave_for), which may be behind"
            )
        self._service = pool.service_name
        self._check = pool.check_connection
        self._asked = pool.sentinel_manager
        self._pools: dict[float, Any] = {}

    def proxy(self, timeout: float) -> Any:
        """What a connection asks where to go; each Sentinel has `timeout` seconds to answer."""
        pool = self._pools.get(timeout)
        if pool is None:
            pool = self._pools.setdefault(timeout, self._made(timeout))
        return pool.proxy

    def close(self) -> None:
        """Closes the connections to Sentinels."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            for sentinel in pool.sentinel_manager.sentinels:
                sentinel.close()

    def _made(self, timeout: float) -> Any:
        from redis.sentinel import Sentinel, SentinelConnectionPool

        asked = self._asked
        addresses = [one.connection_pool.connection_kwargs for one in asked.sentinels]
        bounds = {"socket_timeout": timeout, "socket_connect_timeout": timeout}
        kinds: tuple[Any, Any] = (Sentinel, SentinelConnectionPool)
        manager = kinds[0](
            [(address["host"], address["port"]) for address in addresses],
            min_other_sentinels=asked.min_other_sentinels,
            sentinel_kwargs={**asked.sentinel_kwargs, **bounds},
            force_master_ip=asked._force_master_ip,
        )
        return kinds[1](self._service, manager, check_connection=self._check)


def sentinel_pools(pool: Any) -> SentinelPools | None:
    """None for a pool that asks no Sentinel.

    Raises `InvalidArgument` for one of replicas.
    """
    return SentinelPools(pool) if hasattr(pool, "sentinel_manager") else None
