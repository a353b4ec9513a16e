#!/usr/bin/env python3
"""Searches the model for a broken promise; README.md describes the model.

check.py                     the configurations of `make test`: under a minute
check.py --all               all of them: `make model`
check.py --without RULE      with one rule left out: the shortest story of what goes wrong
check.py --rules             the rules that can be left out
"""

from __future__ import annotations

import argparse
import sys
import time

import configurations
import rules
from explore import Configuration, explore

# Two gigabytes of moments.
AT_MOST = 2_000_000


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every configuration")
    parser.add_argument("--without", choices=rules.ALL, metavar="RULE", help="leave a rule out")
    parser.add_argument("--rules", action="store_true", help="the rules that can be left out")
    arguments = parser.parse_args()
    if arguments.rules:
        for name, text in rules.ALL.items():
            print(f"{name:24}{text}")
        return 0
    if arguments.without:
        return tell(arguments.without)
    return search(configurations.ALL if arguments.all else configurations.QUICK)


def search(chosen: list[Configuration]) -> int:
    """Prints a line for each configuration, and counts them as `make test` expects."""
    passed = failed = 0
    for configuration in chosen:
        started = time.monotonic()
        found = explore(configuration, at_most=AT_MOST)
        end = "" if found.complete else ", cut off"
        seconds = time.monotonic() - started
        print(f"{configuration}: {found.moments} moments{end}, {seconds:.1f} s", flush=True)
        if found.wrong:
            failed += 1
            print(f"  {found.wrong}\n    " + "\n    ".join(found.story))
        else:
            passed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


def tell(rule: str) -> int:
    """The first configuration in which leaving the rule out breaks a promise."""
    print(f"left out: {rules.ALL[rule]}")
    for configuration in configurations.SMALL:
        found = explore(configuration, rule)
        if found.wrong:
            print(f"{configuration}: {found.wrong}\n    " + "\n    ".join(found.story))
            return 0
    print("no promise is broken")
    return 0


if __name__ == "__main__":
    sys.exit(main())
