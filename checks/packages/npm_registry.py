"""A registry of npm packages on the loopback interface, which has the given tarballs and nothing
else: so that a test installs by name, as a user does, and npm chooses the native part."""

from __future__ import annotations

import json
import tarfile
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote


class Registry:
    """Serves the packages while it is entered; `address` is what npm's --registry takes."""

    def __init__(self, tarballs: Sequence[Path]) -> None:
        self.tarballs = list(tarballs)
        manifests = {tarball: _manifest(tarball) for tarball in tarballs}
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = unquote(self.path.lstrip("/"))
                for tarball, manifest in manifests.items():
                    if asked == manifest["name"]:
                        self.answer(json.dumps(registry.document(tarball, manifest)).encode())
                        return
                    if asked == tarball.name:
                        self.answer(tarball.read_bytes())
                        return
                self.send_error(404)

            def answer(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"

    def document(self, tarball: Path, manifest: dict[str, Any]) -> dict[str, Any]:
        """What npm asks for first: every version of a package, here the one."""
        version = manifest["version"]
        described = manifest | {"dist": {"tarball": self.address + tarball.name}}
        return {
            "name": manifest["name"],
            "dist-tags": {"latest": version},
            "versions": {version: described},
        }

    def __enter__(self) -> Registry:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def _manifest(tarball: Path) -> dict[str, Any]:
    with tarfile.open(tarball) as archive:
        file = archive.extractfile("package/package.json")
        assert file
        manifest: dict[str, Any] = json.load(file)
        return manifest
