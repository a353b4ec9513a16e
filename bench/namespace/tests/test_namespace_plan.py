"""What is measured, for how long, and that the Ruby side knows the same names."""

import re
from pathlib import Path

import pytest

from harness.callgrind import open_counted
from harness.limits import is_limit
from namespaces import peers, plan

LIBRARY = peers.RUBY / "lib"
NOWHERE = Path("nowhere")


def names(file: str) -> list[str]:
    """The operations that a file of commands has."""
    return re.findall(r'^ +"([^"]+)" => (?:->|lambda)', (LIBRARY / file).read_text(), re.M)


@pytest.mark.parametrize("quick", [True, False])
def test_rounds_are_at_least_ten(quick: bool) -> None:
    timed = plan.groups(quick, NOWHERE, "")
    assert all(group.pace.rounds >= 10 for group in timed if group.open is not open_counted)


def test_instructions_are_counted_by_valgrind_and_not_in_a_hurry() -> None:
    def counted(quick: bool) -> list[str]:
        return [g.workload for g in plan.groups(quick, NOWHERE, "") if g.open is open_counted]

    assert counted(False) == [
        plan.INSTRUCTIONS,
        f"Rust, redis-rs: {plan.MEASURES['instructions'][0]}",
    ]
    assert counted(True) == []


def test_time_that_was_promised() -> None:
    def seconds(quick: bool) -> float:
        return sum(group.seconds for group in plan.groups(quick, NOWHERE, ""))

    assert seconds(True) < 45
    assert seconds(False) < 480


def test_both_ways_to_call_have_the_same_operations() -> None:
    operations = names("redis_client_commands.rb")
    assert operations == names("redis_rb_commands.rb")
    assert len(operations) == plan.ALL
    assert set(plan.QUICK) < set(operations)


def test_the_pages_operations_are_all_there() -> None:
    page = "SET GET MGET LPUSH LRANGE HSET HGETALL SADD SMEMBERS KEYS ZRANGE MULTI/EXEC"
    assert [name.split()[0] for name in names("redis_client_commands.rb")] == page.split()


def test_ruby_knows_every_measure() -> None:
    units = (LIBRARY / "measure.rb").read_text()
    for measure, _, _ in plan.WORKLOADS.values():
        assert f'"{measure}" => ' in units
        assert f"def self.{measure}(" in units


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("python/lib/commands.py", r'^        "([A-Z][^"]*)": '),
        ("javascript/lib/ioredis.mjs", r"^  (?:'([^']+)'|([A-Z]+)): "),
        ("javascript/lib/node-redis.mjs", r"^  (?:'([^']+)'|([A-Z]+)): "),
        ("javascript/lib/bun-redis.mjs", r"^  (?:'([^']+)'|([A-Z]+)): "),
        ("rust/src/operations.rs", r'^    "([^"]+)",$'),
    ],
)
def test_other_languages_have_the_same_operations(file: str, pattern: str) -> None:
    found = re.findall(pattern, (peers.HERE / file).read_text(), re.M)
    assert ["".join(name) for name in found] == names("redis_client_commands.rb")


def test_a_bare_client_and_ours_are_in_every_group() -> None:
    for group in plan.groups(False, NOWHERE, ""):
        names = [one.name for one in group.subjects]
        assert names[0].startswith("polycache-namespace"), group.workload
        assert any(is_limit("namespace", name) for name in names), group.workload
