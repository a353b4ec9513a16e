"""The Python package's Cache with the compressor zstd, level 3."""

from polycache_store import PolycacheStore

from diskbench.measure import measure


class PolycacheZstd(PolycacheStore):
    name = "polycache-zstd"
    compression = "compresses: zstd, level 3"
    compressor = "zstd"


measure(PolycacheZstd)
