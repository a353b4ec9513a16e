"""Names of functions that make something of replies.

Neither an address nor a line is one: the address is another function's later, and closures of one
line differ.
"""

import sys
from collections.abc import Mapping
from types import FunctionType
from typing import Any

_PLAIN = frozenset((str, bytes, int, float, bool, type(None)))
_PROGRAM = ("__main__", "__mp_main__")


def function_name(one: Any) -> str | None:
    """By which every process finds this very function; None if there is no such name."""
    module, name = getattr(one, "__module__", None), getattr(one, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    found = holder = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not one and not _is_redis_pys(one, module):
        return None
    # Each program has its own __main__, and one that is typed in has none that stays.
    where = getattr(holder, "__file__", None) if module in _PROGRAM else module
    return where and f"{where}.{name}:{_line(one)}"


def options_name(options: Mapping[str, Any]) -> str | None:
    """Of a command's options; None if something among them has no name."""
    return _text(dict(sorted(options.items())))


def _is_redis_pys(one: Any, module: str) -> bool:
    """Whether its line says which it is: redis-py has lambdas in tables."""
    is_plain = type(one) is FunctionType and one.__closure__ is None
    return is_plain and module.startswith("redis.")


def _line(one: Any) -> object:
    return getattr(getattr(one, "__code__", None), "co_firstlineno", "")


def _text(one: Any) -> str | None:
    if type(one) in _PLAIN:
        return repr(one)
    if type(one) is dict:
        one = [part for pair in one.items() for part in pair]
    if type(one) is list or type(one) is tuple:
        parts = [_text(part) for part in one]
        return None if None in parts else f"({', '.join(map(str, parts))})"
    return function_name(one)
