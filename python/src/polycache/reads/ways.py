"""Which way the commands of a client go."""

from typing import Any

from .cluster import ClusterWay, is_cluster
from .way import Way


def way_of(client: Any) -> Way:
    """Raises InvalidArgument for a client whose replies cannot be cached, with the reason."""
    return ClusterWay(client) if is_cluster(client) else Way(client)
