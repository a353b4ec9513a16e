"""Redis namespaces: the vectors, and redis-py with live servers."""
