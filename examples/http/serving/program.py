"""A server of this folder, as a process."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

FOLDER = Path(__file__).resolve().parent.parent
# What programs run on, by the names of their files.
RUNTIMES = {
    "plain": "node",
    "node-http": "node",
    "express": "node",
    "fastify": "node",
    "bun": "bun",
    "hono": "bun",
    "elysia": "bun",
    "axum": "rust",
    "rails": "ruby",
}
ROOT = FOLDER.parent.parent
COMPILED = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release"
TOOLS = Path(os.environ.get("POLYCACHE_TOOLS") or ROOT / "target" / "tools")
# Where tools/setup.sh clients unpacked redis-rb 5 and what it is made of.
GEMS = TOOLS / "debian/trixie/usr/share/rubygems-integration/all/gems"
NAMES = ("redis-[0-9]*", "redis-client-*", "connection_pool-*")
# Seconds for a program to listen, and to go.
PATIENCE, GRACE = 60, 10
SAYS = "listening at "


class DidNotStart(Exception):
    """A program ended, or was silent; it says what the program said."""


@dataclass(frozen=True)
class Kind:
    name: str

    @property
    def runtime(self) -> str:
        return RUNTIMES[self.name]

    @property
    def arguments(self) -> list[str]:
        if self.runtime == "rust":
            return [str(COMPILED / f"example-http-{self.name}")]
        return [self.runtime, str(FOLDER / self._file)]

    @property
    def _file(self) -> str:
        return f"{self.name}.{'rb' if self.runtime == 'ruby' else 'ts'}"

    @property
    def environment(self) -> dict[str, str]:
        """For Ruby: the package of this checkout, and gems that are not installed."""
        if self.runtime != "ruby":
            return {}
        gems = [folder for name in NAMES for folder in GEMS.glob(f"{name}/lib")]
        return {"RUBYLIB": ":".join(map(str, [ROOT / "ruby/lib", *gems]))}

    @property
    def command(self) -> str:
        """As one would type it in this folder."""
        if self.runtime == "rust":
            return f"../../target/release/example-http-{self.name}"
        return f"{self.runtime} {self._file}"

    def missing(self) -> str:
        """Why it cannot run here; empty where it can."""
        program = self.arguments[0]
        if not shutil.which(program):
            return f"no {program} here"
        if self.runtime != "ruby":
            return ""
        found = subprocess.run(
            [program, "-e", "require 'logger'; require 'rails'; require 'puma'; require 'redis'"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=os.environ | self.environment,
            text=True,
            check=False,
        )
        lacks = found.stderr.partition(" -- ")[2].split("\n")[0]
        return f"no {lacks} for Ruby here" if found.returncode else ""


class Program:
    """Listens on a free port of the loopback interface after construction, until it is stopped."""

    def __init__(self, kind: Kind, redis_url: str) -> None:
        self.kind = kind
        self._process = subprocess.Popen(
            kind.arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | kind.environment | {"REDIS_URL": redis_url, "PORT": "0"},
        )
        try:
            self.url = self._listen()
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        self._process.kill()
        self._process.wait()
        assert self._process.stdout
        self._process.stdout.close()

    def _listen(self) -> str:
        assert self._process.stdout
        descriptor = self._process.stdout.fileno()
        deadline = time.monotonic() + PATIENCE
        said = b""
        while (left := deadline - time.monotonic()) > 0:
            if not select.select([descriptor], [], [], left)[0]:
                break
            part = os.read(descriptor, 65536)
            said += part
            for line in said.decode(errors="replace").splitlines(keepends=True):
                if line.startswith(SAYS) and line.endswith("\n"):
                    return line.removeprefix(SAYS).strip()
            if not part:
                break
        raise DidNotStart(f"{self.kind.command} does not listen: {said.decode(errors='replace')}")
