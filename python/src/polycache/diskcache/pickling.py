"""Pickles under a seal: nothing is unpickled before its seal was checked."""

import hmac
import io
import pickle
import pickletools
from collections.abc import Sequence
from typing import Any

from ..errors import InvalidArgument
from .errors import HOW_TO_PICKLE, InvalidSeal, PickleNeeded

Secret = bytes | str | Sequence[bytes | str]

SEAL_BYTES = 32
LEAST_SECRET = 16
_PURPOSE = b"polycache.diskcache 1 "


class Pickling:
    """Pickles and unpickles with one or more secrets: the first seals, all are tried in checks, so
    that secrets can be changed.

    The seal is HMAC-SHA256. No stored byte says which algorithm or secret it is. It covers what the
    pickle is for, and for a value its key, so that a sealed value is refused under another key.
    """

    def __init__(self, secret: Secret) -> None:
        given: Any = secret if isinstance(secret, list | tuple) else [secret]
        # Of numbers, as in a bytearray, bytes() would make zeros, which everybody knows.
        if not all(isinstance(one, bytes | str) for one in given):
            raise InvalidArgument("pickle_secret is bytes or text, or a list of these")
        self._secrets = [one.encode() if isinstance(one, str) else one for one in given]
        if not given or any(len(one) < LEAST_SECRET for one in self._secrets):
            raise InvalidArgument(
                f"pickle_secret has at least {LEAST_SECRET} bytes, from a secret store: "
                "secrets.token_bytes(32) makes some"
            )

    def seal(self, payload: bytes, purpose: bytes) -> bytes:
        """The seal of a payload."""
        return _seal(self._secrets[0], payload, purpose)

    def sealed(self, payload: bytes, purpose: bytes) -> bytes:
        """The payload after its seal."""
        return self.seal(payload, purpose) + payload

    def is_sealed(self, payload: bytes, seal: Any, purpose: bytes) -> bool:
        """Whether the seal is that of the payload, in constant time."""
        if not isinstance(seal, bytes):
            return False
        found = False
        for secret in self._secrets:
            found |= hmac.compare_digest(_seal(secret, payload, purpose), seal)
        return found

    def opened(self, sealed: Any, purpose: bytes) -> bytes:
        """The payload without its seal. Raises `InvalidSeal`."""
        if isinstance(sealed, bytes) and len(sealed) > SEAL_BYTES:
            payload = sealed[SEAL_BYTES:]
            if self.is_sealed(payload, sealed[:SEAL_BYTES], purpose):
                return payload
        raise InvalidSeal(
            "the pickled value was not sealed with this pickle_secret, or was changed or moved "
            "since; it was not loaded"
        )


def _seal(secret: bytes, payload: bytes, purpose: bytes) -> bytes:
    # The length tells where the purpose ends.
    head = b"%s%d " % (_PURPOSE, len(purpose))
    return hmac.digest(secret, head + purpose + payload, "sha256")


KEY = b"key"
"""What the seal of a key is for."""


def value_of(code: bytes) -> bytes:
    """What the seal of the value of a key is for."""
    return b"value of " + code


def dumps(value: Any, protocol: int, optimize: bool = False) -> bytes:
    """The value's pickle."""
    data = pickle.dumps(value, protocol=protocol)
    return pickletools.optimize(data) if optimize else data


def loads(data: bytes) -> Any:
    """The value of a pickle whose seal was checked, or that the user vouches for."""
    return pickle.load(io.BytesIO(data))


def refused(what: str) -> PickleNeeded:
    """The error for a key or value that only pickle could store."""
    return PickleNeeded(f"{what}; {HOW_TO_PICKLE}")


_for_all: Pickling | None = None


def use_pickle(secret: Secret | None) -> None:
    """Lets every cache, index and deque of this process that is opened from now on pickle what is
    not in the type map, sealed with the secret; None takes it back.

    `secret` has at least 16 bytes; of several the first seals, and all are tried when a seal is
    checked. Raises `InvalidArgument`.
    """
    global _for_all
    _for_all = None if secret is None else Pickling(secret)


def default_pickling() -> Pickling | None:
    """What `use_pickle` asked for."""
    return _for_all
