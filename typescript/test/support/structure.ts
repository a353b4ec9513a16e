/** Memory caches whose inside is looked at: whether slots, links, free list, index and counts agree. */
import { afterEach } from 'vitest'
import { MemoryCore, type Owner } from '../../src/memory/core.ts'
import { MemoryCache } from '../../src/memory/memory-cache.ts'
import type { MemoryCacheOptions } from '../../src/memory/options.ts'
import { AS_IS } from '../../src/memory/plan.ts'
import { COPIED, IDLE, ORDERED, type Slots, TIMED, VISITED } from '../../src/memory/slots.ts'

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
    const both = VISITED | ORDERED
    holds((state & both) !== both, `slot ${slot} is visited: the policy hears of its hits no more`)
    const isCopied = (state & COPIED) !== 0
    holds(slots.weights[slot] >= 0, `slot ${slot} weighs ${slots.weights[slot]}`)
    holds(isCopied === (slots.plan[slot] !== AS_IS), `slot ${slot} has another plan than it says`)
    holds((state & IDLE) === 0 || (state & TIMED) !== 0, `slot ${slot} idles without end`)
    if ((state & TIMED) === 0) continue
    holds(slots.ttl[slot] > 0, `slot ${slot} has no time to live`)
    if ((state & IDLE) !== 0) {
      const used = slots.expires[slot] - slots.ttl[slot]
      const end = Math.min(used + slots.idle[slot], slots.deadline[slot])
      holds(slots.expires[slot] === end, `slot ${slot} expires at another time than it says`)
    }
    first = Math.min(first, slots.expires[slot])
  }
  const { maxEntries, maxBytes } = store.bounds
  const remembered = (store as { ghosts?: number }).ghosts ?? 0
  holds(live === store.live, `${live} entries, ${store.live} are counted`)
  holds(weight === store.weight, `${weight} bytes, ${store.weight} are counted`)
  holds(used.size - live === remembered, `${used.size - live} keys alone, ${remembered} counted`)
  holds(live <= maxEntries && weight <= maxBytes, `${live} entries of ${weight} bytes are too many`)
  holds(sweeper.first <= first, `the sweeper expects nothing before ${sweeper.first}, but ${first}`)
  checkLinks(slots, used)
  checkFree(slots, used)
}

function holds(condition: boolean, otherwise: string): void {
  if (!condition) throw new Error(otherwise)
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
  holds(reached === used.size, `${reached} slots are in queues, ${used.size} are used`)
  holds(queues <= 3, `there are ${queues} queues`)
}

/** The slots that no key leads to: empty, and linked in one chain. */
function checkFree(slots: Slots<Any, Any>, used: Map<number, unknown>): void {
  const free = new Set<number>()
  for (let slot = 0; slot < slots.length; slot++) if (!used.has(slot)) free.add(slot)
  const heads = new Set(free)
  let ends = 0
  for (const slot of free) {
    const empty = slots.keys[slot] === undefined && slots.values[slot] === undefined
    if (!empty || slots.state[slot] !== 0)
      throw new Error(`slot ${slot} is free and holds something`)
    const next = slots.next[slot]
    if (next < 0) ends++
    else if (!heads.delete(next)) throw new Error(`slot ${next} is not free, or twice in the list`)
  }
  const lists = free.size === 0 ? 0 : 1
  holds(heads.size === lists && ends === lists, `${heads.size} lists of free slots, ${ends} ends`)
  for (let slot = slots.length; slot < slots.keys.length; slot++) {
    if (slots.keys[slot] !== undefined || slots.values[slot] !== undefined) {
      throw new Error(`slot ${slot} is out of use and holds something`)
    }
  }
}
