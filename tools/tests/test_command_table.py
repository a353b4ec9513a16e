"""spec/commands.json's generator, without a server."""

from __future__ import annotations

import json
import random

import pytest

import commands
from command_table import overrides, table
from command_table.cases import Call, Maker, text
from command_table.overrides import Overrides
from command_table.rules import Unsaid, rules
from command_table.server import KeySpec, Server

NOTHING = Overrides({}, {}, {})


def spec(begin="index", at=1, find="range", flags=(), **found):
    ranges = {"lastkey": 0, "keystep": 1, "limit": 0}
    return KeySpec(begin, {"index": at}, find, found or ranges, frozenset(flags))


def server(name="redis", **commands):
    return Server(name, "7.0.15", {key.upper(): value for key, value in commands.items()})


@pytest.mark.parametrize(
    ("specs", "rule"),
    [
        ([spec()], ["key", 1, 1, 1]),
        ([spec(lastkey=-1, keystep=2, limit=0)], ["key", 1, -1, 2]),
        ([spec(lastkey=1, keystep=1, limit=0)], ["key", 1, 2, 1]),
        ([spec(find="keynum", at=2, keynumidx=0, firstkey=1, keystep=1)], ["numkeys", 2, 3]),
        ([spec(), spec(at=2)], ["key", 1, 2, 1]),
    ],
)
def test_a_key_spec_is_a_rule(specs, rule):
    assert rules(specs) == [rule]


@pytest.mark.parametrize(
    "unclear",
    [
        spec(begin="keyword"),
        spec(begin="unknown"),
        spec(flags=["not_key"]),
        spec(flags=["incomplete"]),
        spec(lastkey=-1, keystep=1, limit=2),
    ],
)
def test_an_unclear_key_spec_has_to_be_overridden(unclear):
    with pytest.raises(Unsaid):
        rules([unclear])


def test_a_command_without_keys_has_to_be_decided_on():
    with pytest.raises(table.Incomplete, match="PING: it has no keys"):
        table.table([server(ping=[])], NOTHING)
    made = table.table([server(ping=[])], Overrides({"PING": "pass"}, {}, {}))
    assert made["commands"]["PING"] == {"do": "pass"}


def test_an_override_of_no_command_is_a_mistake():
    with pytest.raises(table.Incomplete, match="PONG is in the overrides"):
        table.table([server(get=[spec()])], Overrides({"PONG": "pass"}, {}, {}))


def test_servers_that_differ_have_to_be_decided_on():
    servers = [server(x=[spec()]), server("valkey", x=[spec(at=2)])]
    with pytest.raises(table.Incomplete, match="X: the servers differ"):
        table.table(servers, NOTHING)


def test_a_command_of_some_servers_says_which():
    made = table.table([server(a=[spec()], b=[spec()]), server("valkey", a=[spec()])], NOTHING)
    assert made["commands"]["B"]["servers"] == ["redis 7.0"]
    assert "servers" not in made["commands"]["A"]


def test_a_container_decides_for_its_subcommands_but_not_for_help():
    said = Overrides({"CONFIG": "server"}, {}, {})
    assert said.does("CONFIG|GET") == "server"
    assert said.does("CONFIG|HELP") == "pass"


def test_a_name_stands_once_in_the_overrides(tmp_path):
    path = tmp_path / "overrides.toml"
    path.write_text('[pass]\na = ["PING", "PING"]\n[server]\n[scope]\n[at]\n[reply]\n')
    with pytest.raises(ValueError, match="PING is named twice"):
        overrides.read(path)


def test_the_file_has_a_line_a_command():
    written = table.text(table.table([server(a=[spec()], b=[spec()])], NOTHING))
    assert json.loads(written)["commands"]["A"] == {"do": "rewrite", "at": [["key", 1, 1, 1]]}
    assert written.count("\n") == 4


def test_every_package_carries_the_table_as_it_is():
    for path in commands.COPIES:
        assert path.read_text() == commands.TABLE.read_text(), f"{path} is stale: make commands"


def test_a_maker_counts_the_keys_it_announces():
    arguments = [
        {"name": "numkeys", "type": "integer"},
        {"name": "key", "type": "key", "flags": ["multiple", "optional"]},
    ]
    for seed in range(20):
        words = Maker("EVAL", arguments, random.Random(seed)).make().words
        assert int(words[1]) == len(words) - 2


def test_servers_must_agree_on_the_keys_of_a_call():
    with pytest.raises(ValueError, match="servers differ"):
        text(iter([Call(["GET", "key-1"], [1]), Call(["GET", "key-1"], [])]))
