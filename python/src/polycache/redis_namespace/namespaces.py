"""The namespace of a client: a name, a list of nested ones, or a function that is asked for it."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, Union

from ..errors import InvalidArgument
from .prefix import SEPARATOR, Prefix

Namespace: TypeAlias = Union[
    str, "Sequence[Namespace]", Callable[[], "str | Sequence[Namespace] | None"]
]

# Prefixes kept, for a function that gives many names.
KEPT = 1024


class Namespaces:
    """Gives the prefix of this moment."""

    __slots__ = ("_encoding", "_known", "_namespace", "_separator", "fixed")

    def __init__(
        self, namespace: Namespace, encoding: str = "utf-8", separator: str = SEPARATOR
    ) -> None:
        # Without one, a namespace would hold every other whose name begins with its own name.
        if not isinstance(separator, str) or not separator:
            raise InvalidArgument(f"a separator is text that is not empty, not {separator!r}")
        self._separator = separator
        self._namespace = namespace
        self._encoding = encoding
        self._known: dict[str, Prefix] = {}
        self.fixed = None if _dynamic(namespace) else self._resolve()
        """The prefix, if it is always the same."""

    @property
    def prefix(self) -> Prefix:
        """Raises InvalidArgument when a function gives no name: nothing is sent without one."""
        return self.fixed or self._resolve()

    def _resolve(self) -> Prefix:
        text = self._separator.join(_flat(self._namespace))
        return self._known.get(text) or self._remember(text)

    # A new dict instead of a changed one: threads read the old one meanwhile.
    def _remember(self, text: str) -> Prefix:
        prefix = Prefix(text, self._encoding, self._separator)
        known = self._known if len(self._known) < KEPT else {}
        self._known = {**known, text: prefix}
        return prefix


def _dynamic(namespace: object) -> bool:
    if isinstance(namespace, (list, tuple)):
        return any(map(_dynamic, namespace))
    return callable(namespace)


def _flat(namespace: object) -> Iterator[str]:
    """The names, the outermost first."""
    if callable(namespace):
        namespace = namespace()
    if isinstance(namespace, (list, tuple)) and namespace:
        for one in namespace:
            yield from _flat(one)
    elif isinstance(namespace, str) and namespace:
        yield namespace
    else:
        raise InvalidArgument(
            f"a namespace is text, a list of texts or a function that gives one, not {namespace!r}"
        )
