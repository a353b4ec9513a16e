/** Memory caches whose inside is looked at: whether slots, links, free list, index and counts agree. */
import { afterEach, expect } from 'vitest'
import { MemoryCore, type Owner } from '../../src/memory/core.ts'
import { MemoryCache } from '../../src/memory/memory-cache.ts'
import type { MemoryCacheOptions } from '../../src/memory/options.ts'
import { AS_IS } from '../../src/memory/plan.ts'
import { COPIED, SLIDING, type Slots, TIMED } from '../../src/memory/slots.ts'

type Any = ReturnType<typeof JSON.parse>

/** A time that a test moves. */
export class Clock {
  now = 1_700_000_000_000
  readonly read = (): number => this.now
}

/** A core that lets its namespaces be seen. */
export class OpenCore<K, V> extends MemoryCore<K, V> {
  readonly joined: Owner<K>[] = []

  override join(owner: Owner<K>): void {
    super.join(owner)
    this.joined.push(owner)
  }
}

/** A cache whose structure is checked when its test is over, and whenever the test asks for it. */
export interface Open<K, V> {
  readonly cache: MemoryCache<K, V>
  readonly core: OpenCore<K, V>
  readonly clock: Clock
  readonly check: () => void
}

let opened: OpenCore<Any, Any>[] = []

/** A cache with a clock that stands still until it is moved. */
export function openMemory<K = string, V = unknown>(
  options: MemoryCacheOptions<K, V> = {},
): Open<K, V> {
  const clock = new Clock()
  const core = new OpenCore<K, V>({ clock: clock.read, ...options })
  opened.push(core)
  const cache = new MemoryCache<K, V>(core as never)
  return { cache, core, clock, check: () => checkStructure(core) }
}

/** To be called once in a file: checks every cache that its tests opened. */
export function checkAfterEach(): void {
  afterEach(() => {
    const cores = opened
    opened = []
    for (const core of cores) checkStructure(core)
  })
}

/** Fails when anything inside disagrees with anything else. */
export function checkStructure(core: OpenCore<Any, Any>): void {
  const { slots, store, sweeper } = core
  const used = slotsOf(core)
  let live = 0
  let weight = 0
  let first = Number.POSITIVE_INFINITY
  for (const [slot, key] of used) {
    if (!Object.is(slots.keys[slot], key) && slots.keys[slot] !== key) {
      throw new Error(`the index leads to slot ${slot}, which has another key`)
    }
    const state = slots.state[slot]
    // A key that is only remembered has no value; undefined is never stored.
    if (slots.values[slot] === undefined) continue
    live++
    weight += slots.weights[slot]
    expect(slots.weights[slot], 'a weight').toBeGreaterThanOrEqual(0)
    expect((state & COPIED) !== 0, 'copied, and the plan for it').toBe(slots.plan[slot] !== AS_IS)
    if ((state & SLIDING) !== 0) expect(state & TIMED, 'what slides expires').toBe(TIMED)
    if ((state & TIMED) === 0) continue
    expect(slots.ttl[slot], 'a time to live').toBeGreaterThan(0)
    first = Math.min(first, slots.expires[slot])
  }
  const { maxEntries, maxBytes } = store.bounds
  const remembered = (store as { ghosts?: number }).ghosts ?? 0
  expect({ live, weight, remembered: used.size - live }, 'counts').toEqual({
    live: store.live,
    weight: store.weight,
    remembered,
  })
  expect(live, 'entries').toBeLessThanOrEqual(maxEntries)
  expect(weight, 'bytes').toBeLessThanOrEqual(maxBytes)
  expect(sweeper.first, 'what the sweeper expects first').toBeLessThanOrEqual(first)
  expect(sweeper.seen, 'what the sweeper has seen').toBeLessThanOrEqual(first)
  checkLinks(slots, used)
  checkFree(slots, used)
}

/** The keys of the slots that the indexes lead to, each once. */
function slotsOf({ joined, slots }: OpenCore<Any, Any>): Map<number, unknown> {
  const used = new Map<number, unknown>()
  for (const { index } of joined) {
    for (const [key, slot] of index) {
      if (used.has(slot)) throw new Error(`two keys lead to slot ${slot}`)
      if (!(slot >= 0 && slot < slots.length)) throw new Error(`there is no slot ${slot}`)
      used.set(slot, key)
    }
  }
  return used
}

/** Queues: what is behind a slot has it in front, and from the fronts all are reached. */
function checkLinks({ next, previous }: Slots<Any, Any>, used: Map<number, unknown>): void {
  let reached = 0
  let queues = 0
  for (const front of used.keys()) {
    if (previous[front] >= 0) continue
    queues++
    for (let slot = front; slot >= 0; slot = next[slot]) {
      reached++
      if (reached > used.size) throw new Error('a queue goes round')
      if (!used.has(slot)) throw new Error(`slot ${slot} is free, and in a queue`)
      const after = next[slot]
      if (after >= 0 && previous[after] !== slot) throw new Error(`slot ${after} is linked one way`)
    }
  }
  expect(reached, 'slots in queues').toBe(used.size)
  expect(queues, 'queues').toBeLessThanOrEqual(3)
}

/** The slots that no key leads to: empty, and linked in one chain. */
function checkFree(slots: Slots<Any, Any>, used: Map<number, unknown>): void {
  const free = new Set<number>()
  for (let slot = 0; slot < slots.length; slot++) if (!used.has(slot)) free.add(slot)
  const heads = new Set(free)
  let ends = 0
  for (const slot of free) {
    const empty = slots.keys[slot] === undefined && slots.values[slot] === undefined
    if (!empty || slots.state[slot] !== 0) throw new Error(`slot ${slot} is free and holds something`)
    const next = slots.next[slot]
    if (next < 0) ends++
    else if (!heads.delete(next)) throw new Error(`slot ${next} is not free, or twice in the list`)
  }
  expect([heads.size, ends], 'the list of free slots').toEqual(free.size === 0 ? [0, 0] : [1, 1])
  for (let slot = slots.length; slot < slots.keys.length; slot++) {
    if (slots.keys[slot] !== undefined || slots.values[slot] !== undefined) {
      throw new Error(`slot ${slot} is out of use and holds something`)
    }
  }
}
