"""redis-py without a namespace: the limit for what is built on it."""

from typing import Any

from namespace_subject import NamespaceSubject

from subject import serve


class BareRedisPy(NamespaceSubject):
    name = "redis-py"
    prefixes = False

    def client(self, bare: Any) -> Any:
        return bare


serve(BareRedisPy)
