"""Ours around a client of redis-py."""

from typing import Any

from namespace_subject import NamespaceSubject
from polycache.redis_namespace import namespaced

from subject import serve


class WithPolycacheNamespace(NamespaceSubject):
    name = "polycache-namespace-on-redis-py"
    prefixes = True

    def client(self, bare: Any) -> Any:
        return namespaced(bare, self.namespace)


serve(WithPolycacheNamespace)
