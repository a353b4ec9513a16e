"""The settings of a client of a Cluster (package redis), which native connections are made with.

Those hear of writes at each primary, follow slots that move, and send no write twice. The client's
own connections are neither used nor changed.
"""

import os
import re
import ssl
from collections.abc import Mapping
from typing import Any, NoReturn

from .errors import InvalidArgument

# What native connections cannot have.
_REFUSED = (
    "credential_provider",
    "ssl_include_verify_flags",
    "ssl_exclude_verify_flags",
    "ssl_password",
    "ssl_ciphers",
    "ssl_validate_ocsp",
    "ssl_validate_ocsp_stapled",
    "ssl_ocsp_context",
    "ssl_ocsp_expected_cert",
)
# How OpenSSL wants the files of a folder of authorities to be called.
_HASHED = re.compile(r"[0-9a-f]{8}\.\d+")

Tls = tuple[bytes | None, tuple[bytes, bytes] | None, bool]
"""The authorities (None: the system's), the client's certificate and key, and whether the server's
certificate is not looked at."""
Settings = tuple[list[tuple[str, int]], str | None, str | None, Tls | None]
"""The first nodes, the user, its password, and how connections are encrypted."""


def settings(client: Any) -> Settings | None:
    """What the native driver is told; `None` for a client of another kind.

    Raises `InvalidArgument` for what native connections cannot have.
    """
    manager = getattr(client, "nodes_manager", None)
    nodes = getattr(manager, "startup_nodes", None)
    # A client of asyncio has them itself.
    options = getattr(manager, "connection_kwargs", None)
    options = getattr(client, "connection_kwargs", None) if options is None else options
    if not nodes or options is None:
        return None
    if getattr(manager, "address_remap", None) is not None:
        _refuse("address_remap")
    if getattr(client, "user_on_connect_func", None) is not None:
        _refuse("redis_connect_func")
    for name in _REFUSED:
        if options.get(name):
            _refuse(name)
    kind = options.get("connection_class")
    if kind is not None and not kind.__module__.startswith("redis."):
        _refuse("connection_class")
    encrypted = options.get("ssl") or (kind is not None and kind.__name__ == "SSLConnection")
    first = [(str(node.host), int(node.port)) for node in nodes.values()]
    tls = _tls(options) if encrypted else None
    return first, options.get("username"), options.get("password"), tls


def _tls(options: Mapping[str, Any]) -> Tls:
    oldest = options.get("ssl_min_version")
    if oldest is not None and oldest > ssl.TLSVersion.TLSv1_2:
        _refuse("ssl_min_version above TLS 1.2")
    insecure = options.get("ssl_cert_reqs", "required") in (None, "none", ssl.CERT_NONE)
    if not insecure and not options.get("ssl_check_hostname", True):
        _refuse("ssl_check_hostname=False, but with ssl_cert_reqs=None")
    certificate, key = options.get("ssl_certfile"), options.get("ssl_keyfile")
    client = None
    if certificate is not None:
        # One file may hold both.
        client = (_read(certificate), _read(certificate if key is None else key))
    return (None if insecure else _authority(options)), client, insecure


def _authority(options: Mapping[str, Any]) -> bytes | None:
    parts = []
    if (file := options.get("ssl_ca_certs")) is not None:
        parts.append(_read(file))
    if (folder := options.get("ssl_ca_path")) is not None:
        names = sorted(name for name in _names(folder) if _HASHED.fullmatch(name))
        parts += [_read(os.path.join(folder, name)) for name in names]
    data = options.get("ssl_ca_data")
    if isinstance(data, str):
        parts.append(data.encode())
    elif data is not None:
        parts.append(ssl.DER_cert_to_PEM_cert(bytes(data)).encode())
    if not parts:
        return None
    pem = b"\n".join(parts)
    if b"-----BEGIN CERTIFICATE-----" not in pem:
        raise InvalidArgument("remote is a client whose authorities are no certificates in PEM")
    return pem


def _names(folder: Any) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError as error:
        raise InvalidArgument(f"remote is a client whose ssl_ca_path fails: {error}") from None


def _read(file: Any) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError as error:
        raise InvalidArgument(f"remote is a client with a file that fails: {error}") from None


def _refuse(name: str) -> NoReturn:
    raise InvalidArgument(
        f"remote is a client of a Cluster with {name}, which a cache's connections cannot have"
    )
