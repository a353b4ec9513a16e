"""The directory itself: what is not ours, other options, a copy, a lock that is not given back."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import polycache
from cases import COMMAND, Place, Skipped, case, expect

GROUP = "directory"


@case(GROUP, "a deploy that changes options", "nothing fails, nothing is emptied")
def other_options(place: Place) -> str:
    with polycache.Cache(place.path, limit="64MiB") as cache:
        for number in range(1_000):
            cache.set(f"k{number}", number)
        changed: dict[str, Any] = dict(
            serializer="json", jitter=0.1, ttl="1h", name="other", lease_timeout="1s"
        )
        # The directory keeps its limit; the new one is no error.
        with polycache.Cache(place.path, limit="128MiB", **changed) as other:
            read = sum(other.get(f"k{number}") == number for number in range(1_000))
            other.set("new", [1])
        outcome = f"{read:,} of 1,000 read by the new one, its entry by the old: {cache.get('new')}"
        expect(read == 1_000 and cache.get("new") == [1], outcome)
    return outcome


@case(GROUP, "a full disk", "writes are refused or evict; reads go on; writes recover")
def full_disk(place: Place) -> str:
    disk = place.folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        raise Skipped("mounting a file system is not allowed here")
    try:
        with polycache.Cache(str(disk / "cache"), limit="16MiB") as cache:
            cache.set("first", 1)
            filler = fill(disk)
            refused, other = 0, []
            for number in range(5_000):
                try:
                    cache.set(f"k{number}", b"v" * 1000)
                except polycache.NoSpace:
                    refused += 1
                except Exception as error:
                    other.append(repr(error))
            first = cache.get("first", default=None)
            filler.unlink()
            time.sleep(1.1)  # The engine asks a disk that refused it again after a second.
            for number in range(1_000):
                cache.set(f"again{number}", b"v" * 1000)
            stand = sum(f"again{number}" in cache for number in range(1_000))
        outcome = f"{refused:,} refused, {len(other)} other errors, then {stand:,} of 1,000 stand"
        expect(not other and stand == 1_000, f"{outcome} {other[:1]} {first}")
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)
    return outcome


def fill(disk: Path) -> Path:
    """Takes all space of a disk with one file."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            return filler


@case(GROUP, "a folder that holds another program's files", "refused, and nothing is removed")
def foreign_folder(place: Place) -> str:
    blocks = Path(place.path) / "v2" / "blocks"
    blocks.mkdir(parents=True)
    (blocks / "important").write_text("x")
    (Path(place.path) / "v2" / "index").write_bytes(b"\0" * 5_000)
    got = place.command("get", "-d", place.path, "k")
    left = sorted(file.name for file in Path(place.path).rglob("*") if file.is_file())
    outcome = f"exit {got.returncode}, files: {' '.join(left)}"
    expect(got.returncode != 0 and {"important", "index"} <= set(left), outcome)
    return outcome


@case(GROUP, "a process is stopped while it opens the directory", "others open, read and write")
def stopped_opener(place: Place) -> str:
    with polycache.Cache(place.path, limit="8MiB") as cache:
        cache.set("k", 1)
        stopped = []
        try:
            for _ in range(20):
                child = subprocess.Popen(
                    [COMMAND, "keys", "-d", place.path], stdout=subprocess.DEVNULL
                )
                stopped.append(child)
                time.sleep(0.001 * len(stopped) / 4)
                if child.poll() is None:
                    os.kill(child.pid, signal.SIGSTOP)
            began = time.monotonic()
            code = place.command("set", "-d", place.path, "other", "value").returncode
            took = time.monotonic() - began
        finally:
            for child in stopped:
                if child.poll() is None:
                    child.kill()
                child.wait()
        outcome = f"a set by the command ends with {code} after {took:.1f} s"
        expect(code == 0 and took < 15, outcome)
    return outcome


@case(GROUP, "a directory is copied while nobody uses it", "the copy opens with its entries")
def copied_directory(place: Place) -> str:
    with polycache.Cache(place.path, limit="8MiB") as cache:
        for number in range(1_000):
            cache.set(f"k{number}", number)
    copy = str(place.folder / "copy")
    shutil.copytree(place.path, copy)
    with polycache.Cache(copy, limit="8MiB") as cache:
        read = sum(cache.get(f"k{number}", default=None) == number for number in range(1_000))
    outcome = f"{read:,} of 1,000 read"
    expect(read == 1_000, outcome)
    return outcome
