"""The page's own BlobCache, from a checkout: BLOB_CACHE is its folder."""

import logging
import os
import subprocess
import sys

from diskbench.measure import measure
from diskbench.store import Place, Store

CHECKOUT = os.environ["BLOB_CACHE"]
logging.basicConfig(level=logging.ERROR)
sys.path.append(CHECKOUT)
from blob_cache import BlobCache  # noqa: E402, it is there only now


def commit() -> str:
    done = subprocess.run(
        ["git", "-C", CHECKOUT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    )
    return done.stdout.strip() or "unknown"


class Blob(Store):
    name = "blob_cache"
    compression = "compresses: zlib, level 6, of JSON"
    notes = ("two write + flush a set", "recovers once: what a second crash leaves is lost")
    versions = (("blob_cache", commit()),)
    most = 1000
    alone = "one process at a time: it locks its file"

    def __init__(self, place: Place) -> None:
        self.cache = BlobCache(str(place.directory / "cache"))
        self.set, self.delete = self.cache.set, self.cache.delete

    def get(self, key: str) -> str | None:
        try:
            value: str = self.cache.get(key)
        except KeyError:
            return None
        return value

    def close(self) -> None:
        self.cache.close()


measure(Blob)
