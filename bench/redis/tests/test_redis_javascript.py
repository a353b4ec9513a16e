"""What the clients' subjects share, in Node; skipped where there is none."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parent.parent.parent
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(not NODE, reason="there is no Node here")

# A client of a Map, and faults to plant in it.
FAKE = """
import { check } from './redis/lib/check.mjs'
import { workloads } from './redis/lib/workloads.mjs'
import { decode, encode, flat } from './redis/lib/json.mjs'

const say = (value) => console.log(JSON.stringify(value))
const client = (faults = {}, pipelineFaults = {}) => {
  const map = new Map()
  const many = {
    mset: async (items) => { for (const { key, value } of items) map.set(key, encode(value)) },
    mget: async (keys) => keys.map((key) => decode(map.get(key))),
    mdelete: async (keys) => { for (const key of keys) map.delete(key) },
  }
  return {
    set: async (key, value) => map.set(key, encode(value)),
    get: async (key) => decode(map.get(key)),
    setFor: async (key, value) => map.set(key, encode(value)),
    ttl: async () => 3600,
    has: async (key) => Number(map.has(key)),
    delete: async (key) => map.delete(key),
    keys: async () => [...map.keys()].filter((key) => key.startsWith('p:key-')),
    ...many,
    hset: async (key, fields) => map.set(key, fields),
    hget: async (key, field) => map.get(key)[field],
    pipelined: { ...many, ...pipelineFaults },
    ...faults,
  }
}
const verdict = (client) => check(client, 'p:').then(() => say(''), (error) => say(error.message))
"""


def run(code):
    """What the module says through `say`, as a list."""
    done = subprocess.run(
        [NODE, "--input-type=module", "--eval", f"{FAKE}{code}"],
        cwd=BENCH,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("client", "said"),
    [
        ("client()", ""),
        ("client({ hset: undefined, hget: undefined, pipelined: undefined })", ""),
        ("client({ get: async () => null })", "get: "),
        ("client({ has: async () => 1 })", "exists: a deleted key is there"),
        ("client({ delete: async () => 1 })", "get of a deleted key"),
        ("client({ ttl: async () => 3_600_000 })", "ttl: "),
        ("client({ mget: async () => [] })", "mget"),
        ("client({ mset: async () => {} })", "get after mset"),
        ("client({ keys: async () => [] })", "keys"),
        ("client({ hget: async () => 'value1' })", "hget"),
        ("client({}, { mdelete: async () => {} })", "keys that were deleted"),
    ],
)
def test_a_client_that_does_not_do_what_its_rows_say_is_found(client, said):
    (found,) = run(f"await verdict({client})")
    assert said in found
    assert bool(said) == bool(found)


def test_the_operations_are_those_of_the_page():
    small, large, batch, single = run(
        """
        const names = (kind, value, fake) =>
          say(Object.keys(workloads[kind]({ client: fake, prefix: 'p:', value })))
        names('one', 'small', client())
        names('one', 'large', client())
        names('batch', '', client())
        names('batch', '', client({ pipelined: undefined }))
        """
    )
    assert small == ["SET", "GET", "EXISTS", "DELETE", "SET with TTL", "TTL", "HSET", "HGET"]
    assert large == ["SET", "GET"]
    assert single == ["SET", "GET", "DELETE", "KEYS"]
    assert sorted(batch) == sorted([*single, *(f"{name}, pipelined" for name in single[:3])])


def test_what_a_client_lacks_is_said():
    (said,) = run(
        """
        const { HSET } = workloads.one({ client: client({ hset: undefined }), prefix: 'p:', value: 'small' })
        try { HSET.operation() } catch (error) { say(error.message) }
        """  # noqa: E501
    )
    assert said == "it has no operations for hashes"


def test_a_key_that_is_not_there_is_null():
    assert run("say(decode(null)); say(decode(undefined)); say(decode(encode({ a: 1 })))") == [
        None,
        None,
        {"a": 1},
    ]


def test_mset_takes_keys_and_values_in_turn():
    assert run("say(flat([{ key: 'a', value: 1 }, { key: 'b', value: 'x' }]))") == [
        ["a", "1", "b", '"x"']
    ]
