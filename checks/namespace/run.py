#!/usr/bin/env python3
"""Two namespaces and a bare neighbour of each language, all on one server, run random commands over
all data types; `make check-namespace` calls it.

    make check-namespace                      a million commands
    make check-namespace COMMANDS=100000

Each keyspace has a model: a database of another server that gets the same commands without a
namespace. Every reply must equal the model's, and at the end every keyspace must equal its model,
so no client has seen or changed another's keys. The last line is `N passed, N failed, 0 skipped`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from command_table import start
from command_table.connection import Connection
from random_calls import Commands, work

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
# By language, the command that starts its worker. Its arguments: the file of its work, the port of
# the shared server, the port of the models' server, its first database there, and its two
# namespaces.
WORKERS = {
    "rust": (str(TARGET / "release" / "examples" / "check_namespace"),),
    "python": (sys.executable, str(HERE / "worker.py")),
    "ruby": ("ruby", str(HERE / "worker.rb")),
    "ioredis": ("node", str(HERE / "worker.ts"), "ioredis"),
    "node-redis": ("node", str(HERE / "worker.ts"), "node-redis"),
    "bun": ("bun", str(HERE / "worker.ts"), "bun"),
}
KEYSPACES = 3
# Number of differences shown per check.
SHOWN = 5
SERVER = ("--enable-debug-command", "local", "--databases", "64")


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="polycache-namespace-") as name, ExitStack() as stack:
        shared = stack.enter_context(start.running(options.server, *SERVER))
        models = stack.enter_context(start.running(options.server, *SERVER))
        files = prepare(Path(name), shared, options)
        results = run(files, shared, models)
        checks = {f"{name}: replies": result["mismatches"] for name, result in results.items()}
        for number, language in enumerate(results):
            checks |= compare(language, number * KEYSPACES, shared, models)
        checks["no stray keys"] = strangers(shared, list(results))
    for name, differences in checks.items():
        print(f"{name}: {'equal' if not differences else ''}")
        for difference in differences[:SHOWN]:
            print(f"  {difference}")
    checked = sum(result["commands"] for result in results.values())
    print(f"{checked:,} commands, seed {options.seed}")
    failed = sum(bool(differences) for differences in checks.values())
    print(f"{len(checks) - failed} passed, {failed} failed, 0 skipped")
    return int(bool(failed))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Checks that namespaces keep apart.")
    parser.add_argument("--commands", type=int, default=1_000_000, help="in all languages together")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--server", default=start.PROGRAMS[0], choices=start.PROGRAMS)
    parser.add_argument("--languages", nargs="+", default=list(WORKERS), choices=list(WORKERS))
    return parser.parse_args()


def prepare(folder: Path, port: int, options: argparse.Namespace) -> dict[str, Path]:
    """The work of each language, a file each."""
    table = json.loads((ROOT / "spec" / "commands.json").read_text())["commands"]
    names = [name for name, said in table.items() if said["do"] == "rewrite"]
    files = {}
    for language in options.languages:
        if shutil.which(WORKERS[language][0]) is None:
            sys.exit(f"{WORKERS[language][0]} is not here")
        chance = random.Random(f"{options.seed} {language}")
        inside = Commands(port, names, chance)
        bare = Commands(port, names, chance, neighbour(language))
        files[language] = folder / f"{language}.jsonl"
        with files[language].open("w") as file:
            for one in work(inside, bare, options.commands // len(options.languages), chance):
                file.write(json.dumps(one) + "\n")
    return files


def run(files: dict[str, Path], shared: int, models: int) -> dict[str, dict[str, Any]]:
    """All languages at once."""
    processes = {
        language: subprocess.Popen(
            [
                *WORKERS[language],
                str(file),
                str(shared),
                str(models),
                str(number * KEYSPACES),
                *namespaces(language),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        for number, (language, file) in enumerate(files.items())
    }
    results = {}
    for language, process in processes.items():
        out, _ = process.communicate()
        if process.returncode:
            results[language] = {
                "commands": 0,
                "mismatches": [f"{language}: ended with {process.returncode}"],
            }
        else:
            results[language] = json.loads(out)
    return results


def namespaces(language: str) -> tuple[str, str]:
    """One namespace is a prefix of the other, and both contain a pattern's special characters."""
    return language, f"{language}?[a]"


def neighbour(language: str) -> str:
    """The prefix of the bare neighbour's keys; only it and its model use these names."""
    return f"bare-{language}-"


def compare(language: str, first: int, shared: int, models: int) -> dict[str, list[str]]:
    """Keys and values of the three keyspaces beside their models': differences by keyspace."""
    prefixes = [*(f"{namespace}:" for namespace in namespaces(language)), neighbour(language)]
    with Connection(shared) as everything, Connection(models) as model:
        keys = everything.call("KEYS", "*")
        found = {}
        for number, prefix in enumerate(prefixes):
            model.call("SELECT", str(first + number))
            # The neighbour's model has the keys under their own names.
            cut = 0 if prefix == neighbour(language) else len(prefix)
            ours = {key[cut:]: key for key in keys if key.startswith(prefix)}
            found[f"{prefix} keys and values"] = _differences(ours, everything, model)
        return found


def _differences(ours: dict[str, str], everything: Connection, model: Connection) -> list[str]:
    """`ours` gives the whole name of a key on the shared server."""
    theirs = set(model.call("KEYS", "*"))
    found = [f"{key} is there, and not in the model" for key in ours.keys() - theirs]
    found += [f"{key} is in the model only" for key in theirs - ours.keys()]
    return found + [
        f"{key} has another value"
        for key in ours.keys() & theirs
        if digest(everything, ours[key]) != digest(model, key)
    ]


def strangers(shared: int, languages: list[str]) -> list[str]:
    """Keys that no client may have written."""
    known = tuple(
        prefix
        for language in languages
        for prefix in (
            *(f"{namespace}:" for namespace in namespaces(language)),
            neighbour(language),
        )
    )
    with Connection(shared) as connection:
        return [
            f"a stray key: {key}"
            for key in connection.call("KEYS", "*")
            if not key.startswith(known)
        ]


def digest(connection: Connection, key: str) -> str:
    """A digest of a value, independent of the order in which a server keeps its parts."""
    return str(connection.call("DEBUG", "DIGEST-VALUE", key))


if __name__ == "__main__":
    sys.exit(main())
