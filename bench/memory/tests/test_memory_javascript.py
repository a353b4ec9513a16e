"""What the subjects share, in Node; skipped where there is none."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parent.parent.parent
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(not NODE, reason="there is no Node here")


def run(code):
    """What the module says through `say`, as a list."""
    start = "const say = (value) => console.log(JSON.stringify(value));"
    done = subprocess.run(
        [NODE, "--input-type=module", "--eval", f"{start}{code}"],
        cwd=BENCH,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_values_have_the_sizes_of_the_page():
    sizes = run(
        """
        import { values } from './memory/lib/values.mjs'
        for (const make of Object.values(values)) say(JSON.stringify(make()).length)
        """
    )
    assert sizes == [79, 2664, 2664]


def test_a_batch_is_a_power_of_two_and_a_small_part_of_a_round():
    sizes = run(
        """
        import { batchSize } from './serve/mitata.mjs'
        for (const ns of [1, 100, 1000, 100_000, 1e9]) say(batchSize(ns, 0.03))
        """
    )
    assert sizes == [4096, 4096, 256, 4, 1]


def test_an_operation_is_timed_in_batches_and_awaited_where_it_must():
    asked = run(
        """
        import { timer } from './serve/mitata.mjs'
        const time = timer(async (operation, options) => {
          say([operation.name, options.batch_samples > 1, options.max_samples])
          return { p50: 5 }
        })
        let pending = 0
        const fast = () => 1
        const slow = async () => {
          if (++pending > 1) throw new Error('it was not awaited')
          await new Promise((done) => setTimeout(done, 1))
          pending--
        }
        say(await time(fast, 0.03))
        say(await time(slow, 0.03))
        """
    )
    assert asked == [["fast", True, 1e9], 5, ["slow", False, 1e9 + 1], 5]


CHECK = """
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { check } from './memory/lib/check.mjs'

const map = (change) => () => {
  const map = new Map()
  const cache = {
    set: (key, value) => map.set(key, value), get: (key) => map.get(key),
    has: (key) => map.has(key), delete: (key) => map.delete(key),
    keys: () => [...map.keys()], clear: () => map.clear(),
  }
  return { ...cache, ...change?.(map) }
}
const copy = (value) => structuredClone(value)
const copies = (map) => ({
  set: (key, value) => map.set(key, copy(value)), get: (key) => copy(map.get(key)),
})
const directory = mkdtempSync(`${tmpdir()}/polycache-check-`)
const verdict = async (subject) => {
  try {
    await check(subject, { directory, value: 'small' })
    say('')
  } catch (error) {
    say(error.message)
  }
}
"""


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("{ isolation: 'none', open: map() }", ""),
        ("{ isolation: 'clone', open: map(copies) }", ""),
        ("{ isolation: 'clone', open: map() }", "after the object that was set has changed"),
        ("{ isolation: 'none', open: map(copies) }", "does not give back the object itself"),
        (
            "{ isolation: 'clone', open: map((m) => ({ set: (k, v) => m.set(k, copy(v)) })) }",
            "after the object that was got has changed",
        ),
        ("{ isolation: 'none', ttl: true, open: map() }", "get after it has expired"),
        ("{ isolation: 'none', open: map(() => ({ delete: () => true })) }", "deleted key"),
        ("{ isolation: 'none', open: map(() => ({ clear: () => {} })) }", "clear: a key is left"),
        ("{ isolation: 'none', open: map(() => ({ has: () => true })) }", "has: a deleted key"),
        ("{ isolation: 'none', open: map(() => ({ keys: () => [] })) }", "keys"),
        ("{ isolation: 'none', open: map(() => ({ mget: () => [] })) }", "mget"),
    ],
)
def test_a_subject_that_does_not_do_what_its_rows_say_is_found(subject, said):
    (found,) = run(f"{CHECK} await verdict({subject})")
    assert said in found
    assert bool(said) == bool(found)


@pytest.mark.parametrize(
    ("read", "said"),
    [
        ("{ id }", ""),
        ("id % 970 === 0 ? undefined : { id }", "of 104 keys are gone"),
        ("id === 0 ? undefined : { id }", ""),
        ("{ id: 5 }", "has another key's value"),
    ],
)
def test_keys_that_are_gone_or_mixed_up_are_found(tmp_path, read, said):
    (tmp_path / "keys").write_bytes(bytes(4 * 4))
    (found,) = run(
        f"""
        import {{ workloads }} from './memory/lib/workloads.mjs'
        const answer = (id) => ({read})
        const cache = {{ set: () => {{}}, get: (key) => answer(Number(key.slice(4))) }}
        const {{ prove }} = await workloads.sequence(
          {{ subject: {{}}, cache, keep: () => {{}}, entries: 10_000, keys: '{tmp_path}/keys' }})
        await prove().then(() => say(''), (error) => say(error.message))
        """
    )
    assert said in found
    assert bool(said) == bool(found)
