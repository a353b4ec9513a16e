"""The benchmark of namespaces as data: its subjects and its groups (bench/namespace/README.md)."""
