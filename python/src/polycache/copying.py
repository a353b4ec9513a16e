"""Copies of values for `isolation="clone"`."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from .errors import UnsupportedValue


def copied(value: Any) -> Any:
    """`copy.deepcopy`. Raises `UnsupportedValue`, with the path to what can't be copied."""
    try:
        return deepcopy(value)
    except Exception as error:
        culprit, path = _culprit(value)
        kind = f"{type(culprit).__module__}.{type(culprit).__qualname__}"
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UnsupportedValue(
            f"{path}: {kind} cannot be copied ({why}): store something else, or use "
            'isolation="none"',
            path,
        ) from error


def _culprit(value: Any) -> tuple[Any, str]:
    """The innermost part that has no copy, as far as it is in lists, dicts and tuples."""
    path = "$"
    # A value that is nested deeper is refused anyway.
    for _ in range(128):
        for part, step in _parts(value):
            try:
                deepcopy(part)
            except Exception:
                value, path = part, path + step
                break
        else:
            break
    return value, path


def _parts(value: Any) -> Iterator[tuple[Any, str]]:
    if isinstance(value, dict):
        for key, part in list(value.items()):
            yield part, f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{key!r}]"
    elif isinstance(value, list | tuple):
        for place, part in enumerate(value):
            yield part, f"[{place}]"
