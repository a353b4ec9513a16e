"""Django's FileBasedCache with room for everything."""

from django import get_version
from django.conf import settings
from django.core.cache.backends.filebased import FileBasedCache

from diskbench.measure import measure
from diskbench.store import Place, Store

settings.configure()


class Django(Store):
    name = "django"
    compression = "compresses: zlib, its default level"
    notes = (
        "FileBasedCache, a file a key, MAX_ENTRIES raised to hold all, pickles",
        "each set lists the folder, so all keys would take longer than the scaled figure says",
    )
    versions = (("django", get_version()),)
    most = 300

    def __init__(self, place: Place) -> None:
        options = {"MAX_ENTRIES": 2 * place.keys + 1000}
        self.cache = FileBasedCache(str(place.directory), {"timeout": None, "OPTIONS": options})
        # Text goes in and comes out.
        self.set, self.get, self.delete = self.cache.set, self.cache.get, self.cache.delete

    def close(self) -> None:
        self.cache.close()


measure(Django)
