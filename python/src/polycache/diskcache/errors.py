"""The errors and warnings of `polycache.diskcache`."""

from ..errors import ForeignDirectory, MalformedEntry, UnsupportedValue

HOW_TO_PICKLE = (
    "diskcache would pickle it. Ask for pickle by name, with a secret that only your programs "
    "know: Cache(directory, pickle_secret=secret), or use_pickle(secret) once for all"
)
HOW_TO_PICKLE_IN_DJANGO = (
    "diskcache would pickle it. Ask for pickle by name, with a secret that only your programs "
    'know: "OPTIONS": {"pickle_secret": secret} beside "BACKEND" in the setting CACHES'
)


class Timeout(Exception):
    """Another process or thread was writing for as long as the cache's `timeout`.

    Of `evict`, `expire`, `cull` and `clear` its argument is how many entries they had removed.
    """


class PickleNeeded(UnsupportedValue):
    """The key or value can only be pickled, and nobody asked for pickle."""


class InvalidSeal(MalformedEntry):
    """A pickle was not sealed with one of the secrets, or was changed since: it was not loaded."""


class UnknownFileWarning(UserWarning):
    """Of `Cache.check`: the directory holds a file that the cache does not know."""


class EmptyDirWarning(UserWarning):
    """Of `Cache.check`: the directory holds an empty folder."""


class OldDirectory(ForeignDirectory):
    """The directory is one of diskcache's, which was not imported. Nothing in it was changed."""
