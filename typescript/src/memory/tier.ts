import type { Mapping } from '../host/mapping.ts'
import { CoarseClock } from './clock.ts'
import { AS_IS, copyOut } from './clone.ts'
import { Keeper } from './keeper.ts'
import type { ResolvedMemory } from './options.ts'
import { COPIED, resized, Slots, TIMED, VISITED } from './slots.ts'
import { Store } from './store.ts'
import { weighKey } from './weigh-key.ts'

/** Where a value was read in the host tier, as the tier there tells it. */
export interface Origin {
  /** The number of the slot in the directory's index. */
  readonly slot: number
  /** The half of the slot's word that changes with each write. */
  readonly ver: number
  /** The epoch that was read before the word. */
  readonly epoch: number
  /** Milliseconds since 1970; `expires` is 0 for never. */
  readonly created: number
  readonly expires: number
}

/** The keys of one namespace that are in memory, to slots of the memory tier. */
export type Held = Map<string, number>

/** The columns of the memory tier: those of any memory cache, and where the host tier has the entry. */
class TierSlots extends Slots<string, unknown> {
  /** In which namespace's keys a slot's is. */
  readonly held: (Held | undefined)[] = []
  /** The place of the host slot's `ver` among the words of the index, and what it was. */
  at: Int32Array = new Int32Array(this.state.length)
  ver: Int32Array = new Int32Array(this.state.length)
  epoch: Int32Array = new Int32Array(this.state.length)
  /** The host slot's visited byte. */
  mark: Int32Array = new Int32Array(this.state.length)

  protected override resize(size: number): void {
    super.resize(size)
    this.at = resized(this.at, size)
    this.ver = resized(this.ver, size)
    this.epoch = resized(this.epoch, size)
    this.mark = resized(this.mark, size)
  }
}

/**
 * The memory tier over a host tier: values that were read there and decoded, each with the word of its slot and the
 * epoch. One is served while both stand as they were, which two atomic loads tell: then nobody has written, deleted or
 * cleared the key since, in any process. So nothing is ever put here but what a read of the host tier gave, and nobody
 * has to be told of a write.
 */
export class MemoryTier {
  readonly #slots = new TierSlots()
  readonly #store: Store<string, unknown>
  readonly #keeper: Keeper
  readonly #clock: CoarseClock
  readonly #index: Int32Array
  readonly #visited: Uint8Array
  readonly #epochAt: number
  readonly #slotsAt: number
  readonly #visitedAt: number
  /** By the prefix of their keys. Programs may open any number, one after the other. */
  readonly #namespaces = new Map<string, WeakRef<Held>>()
  readonly #gone = new FinalizationRegistry<string>((name) => {
    if (this.#namespaces.get(name)?.deref() === undefined) this.#namespaces.delete(name)
  })

  constructor(mapping: Mapping, options: ResolvedMemory, clock: (() => number) | undefined) {
    const { bounds, policy, isolation, cloneInstance } = options
    const slots = this.#slots
    this.#store = new Store(slots, bounds, policy, (slot) => this.#drop(slot))
    this.#keeper = new Keeper(
      isolation,
      bounds.maxBytes !== Number.POSITIVE_INFINITY,
      cloneInstance,
    )
    this.#clock = new CoarseClock(clock)
    this.#index = mapping.index
    this.#visited = mapping.indexBytes
    this.#epochAt = mapping.layout.epochAt >> 2
    this.#slotsAt = mapping.layout.slotsAt >> 2
    this.#visitedAt = mapping.layout.visitedAt
  }

  /** The keys of a namespace that are in memory; the same Map for all that have that namespace open. */
  heldBy(prefix: Uint8Array): Held {
    const name = Buffer.from(prefix).toString('latin1')
    let held = this.#namespaces.get(name)?.deref()
    if (held === undefined) {
      held = new Map()
      this.#namespaces.set(name, new WeakRef(held))
      this.#gone.register(held, name)
    }
    return held
  }

  /** The value of a slot, if it is still the host tier's; else undefined. */
  read(slot: number): unknown {
    if (!this.has(slot)) return undefined
    const slots = this.#slots
    const value = slots.values[slot]
    return (slots.state[slot] & COPIED) === 0 ? value : copyOut(value, slots.plan[slot])
  }

  /** Whether the value of a slot is still the host tier's. Counts as a use. */
  has(slot: number): boolean {
    const slots = this.#slots
    const index = this.#index
    // The word, then the epoch, which moves before a word can come to be what it was (`spec/host.md`).
    if (Atomics.load(index, slots.at[slot]) !== slots.ver[slot]) return false
    if (Atomics.load(index, this.#epochAt) !== slots.epoch[slot]) return false
    const state = slots.state[slot]
    if ((state & ~COPIED) !== VISITED && !this.#isServed(slot, state)) return false
    // The host tier keeps what it sees used, and of hits here it sees only this.
    const mark = slots.mark[slot]
    if (this.#visited[mark] === 0) this.#visited[mark] = 1
    return true
  }

  #isServed(slot: number, state: number): boolean {
    if ((state & TIMED) !== 0 && !this.#slots.isServed(slot, this.#clock.now())) return false
    if ((state & VISITED) === 0) this.#store.visit(slot)
    return true
  }

  /** Keeps a value that was just read. Returns what its reader is given. */
  remember(held: Held, key: string, value: unknown, origin: Origin): unknown {
    let kept: unknown
    try {
      kept = this.#keeper.keep(value)
    } catch {
      // What has no frozen form is read anew each time.
      this.forget(held, key)
      return value
    }
    const { plan, weight: bytes } = this.#keeper
    const weight = bytes + weighKey(key)
    const store = this.#store
    if (weight > store.bounds.maxBytes) {
      this.forget(held, key)
      return value
    }
    const slots = this.#slots
    const found = held.get(key)
    const flags = plan === AS_IS ? 0 : COPIED
    const slot =
      found === undefined
        ? store.add(key, kept, weight, flags)
        : store.replace(found, key, kept, weight, flags)
    if (slot !== found) held.set(key, slot)
    slots.held[slot] = held
    slots.plan[slot] = plan
    slots.at[slot] = this.#slotsAt + (origin.slot << 1)
    slots.ver[slot] = origin.ver
    slots.epoch[slot] = origin.epoch
    slots.mark[slot] = this.#visitedAt + origin.slot
    if (origin.expires !== 0) {
      slots.state[slot] |= TIMED
      slots.expires[slot] = origin.expires
      slots.ttl[slot] = origin.expires - origin.created
    }
    return plan === AS_IS ? kept : value
  }

  /** Lets go of a value, which is the host tier's no more. */
  forget(held: Held, key: string): void {
    const slot = held.get(key)
    if (slot === undefined) return
    this.#drop(slot)
    this.#store.remove(slot)
  }

  #drop(slot: number): void {
    const slots = this.#slots
    slots.held[slot]?.delete(slots.keys[slot])
    slots.held[slot] = undefined
  }

  clear(): void {
    this.#store.clear()
  }
}
