"""Says once for each kind of error that loaded values could not be stored."""

import logging

_log = logging.getLogger("polycache")


def report(code: str, error: Exception) -> None:
    """Called by the native extension, for the first error of each code of a cache."""
    _log.warning(
        "a loaded value was not stored, and handed to its caller all the same (%s: %s); further "
        'ones are counted in stats().unstored; store_errors="raise" makes it an error',
        code,
        error,
    )
