"""A file a key by hand: written beside it, and renamed, so that no reader sees half a value."""

import os

from diskbench.measure import measure
from diskbench.store import Place, Store


class Files(Store):
    name = "files"
    notes = ("a file a key, renamed into place", "one folder")
    most = 2500

    def __init__(self, place: Place) -> None:
        self.folder = place.directory

    def set(self, key: str, value: str) -> None:
        beside = self.folder / f"{key}.{os.getpid()}"
        beside.write_bytes(value.encode())
        beside.replace(self.folder / key)

    def get(self, key: str) -> str | None:
        try:
            return (self.folder / key).read_bytes().decode()
        except FileNotFoundError:
            return None

    def delete(self, key: str) -> None:
        (self.folder / key).unlink()

    def close(self) -> None:
        pass


measure(Files)
