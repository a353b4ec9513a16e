"""The page's SeparateFileCache: gzip at level 6, a file a key."""

import gzip
import zlib
from pathlib import Path

from diskbench.measure import measure
from diskbench.store import Place, Store

LEVEL = 6


class GzipFiles(Store):
    name = "gzip-files"
    compression = "compresses: gzip, level 6"
    notes = ("as the page: a file a key", "a read during a write gets half a value")
    versions = (("zlib", zlib.ZLIB_RUNTIME_VERSION),)
    most = 500
    alone = "a reader sees half-written files"

    def __init__(self, place: Place) -> None:
        self.folder = f"{place.directory}/"

    def set(self, key: str, value: str) -> None:
        with gzip.open(self.folder + key, "wb", compresslevel=LEVEL) as file:
            file.write(value.encode())

    def get(self, key: str) -> str | None:
        try:
            with gzip.open(self.folder + key, "rb") as file:
                return file.read().decode()
        except FileNotFoundError:
            return None

    def delete(self, key: str) -> None:
        Path(self.folder + key).unlink()

    def close(self) -> None:
        pass


measure(GzipFiles)
