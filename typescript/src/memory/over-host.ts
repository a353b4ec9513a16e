import type { Types } from '../entry/registered.ts'
import { type Mapping, MOST_READS } from '../host/mapping.ts'
import { CoarseClock } from './clock.ts'
import { Doorkeeper } from './doorkeeper.ts'
import { Keeper } from './keeper.ts'
import type { ResolvedMemory } from './options.ts'
import { AS_IS, copyOut } from './plan.ts'
import { COPIED, resized, Slots, TIMED, VISITED } from './slots.ts'
import { Store } from './store.ts'
import { WeakNamespaces } from './weak-namespaces.ts'
import { weighKey } from './weigh.ts'

/** Where a value was read in the host tier, as the tier there tells it. */
export interface Origin {
  /** The number of the slot in the directory's index. */
  readonly slot: number
  /** The half of the slot's word that changes with each write. */
  readonly ver: number
  /** The epoch that was read before the word. */
  readonly epoch: number
  /** Milliseconds since 1970. */
  readonly created: number
  /** Until when it may be served without a look there, 0 for ever: it expires, or a read is to prolong it. */
  readonly keptUntil: number
}

/** The keys of one namespace that are in memory, to slots of the memory tier. */
export type SlotsByKey = Map<string, number>

/** The columns of the memory tier: those of any memory cache, and where the host tier has the entry. */
class TierSlots extends Slots<string, unknown> {
  /** The namespace's keys that have the slot's key. */
  readonly slotsByKey: (SlotsByKey | undefined)[] = []
  /**
   * Four words a slot, because they are read together: the place of the host slot's `ver` among the words of the index,
   * what that was, the epoch, and the place of the host slot's visited byte.
   */
  origin: Int32Array = new Int32Array(ORIGIN * this.state.length)

  protected override resize(size: number): void {
    super.resize(size)
    this.origin = resized(this.origin, ORIGIN * size)
  }
}

const ORIGIN = 4
const AT = 0
const VER = 1
const EPOCH = 2
const MARK = 3

/** One in so many hits marks its host slot as read often, unless it is; a power of two. */
const LOOKS = 16
/** Hits that are not yet part of what the machine counts, at most. */
const MOST_UNREPORTED = 256

/**
 * The memory tier over a host tier: values that were read there and decoded, each with the word of its slot and the
 * epoch. One is served while both are unchanged, which two loads tell: then no process has written, deleted or cleared
 * the key since. So only values that a read of the host tier gave are put here, and writes need no messages.
 */
export class MemoryOverHost {
  /** Values that were handed out. */
  hits = 0
  /** At so many hits they are reported. */
  #due = 0
  readonly #report: () => void
  readonly #slots = new TierSlots()
  readonly #store: Store<string, unknown>
  readonly #doorkeeper = new Doorkeeper()
  readonly #keeper: Keeper
  /** Whether what is stored is itself handed out. */
  readonly shares: boolean
  /** Whether what is handed out is frozen. */
  readonly freezes: boolean
  readonly #clock: CoarseClock
  readonly #index: Int32Array
  readonly #visited: Uint8Array
  readonly #epochAt: number
  readonly #slotsAt: number
  readonly #visitedAt: number
  readonly #namespaces = new WeakNamespaces<SlotsByKey>()

  constructor(
    mapping: Mapping,
    options: ResolvedMemory,
    clock: (() => number) | undefined,
    types: Types | undefined,
    report: () => void,
  ) {
    this.#report = report

    const { bounds, policy, isolation, cloneInstance } = options
    const slots = this.#slots
    this.#store = new Store(slots, bounds, policy, (slot) => this.#drop(slot))
    this.#keeper = new Keeper(
      isolation,
      bounds.maxBytes !== Number.POSITIVE_INFINITY,
      cloneInstance,
      types,
    )
    this.freezes = isolation === 'freeze'
    this.shares = isolation === 'none'
    this.#clock = new CoarseClock(clock)
    this.#index = mapping.index
    this.#visited = mapping.indexBytes
    this.#epochAt = mapping.layout.epochAt >> 2
    this.#slotsAt = mapping.layout.slotsAt >> 2
    this.#visitedAt = mapping.layout.visitedAt
  }

  /** The keys of a namespace that are in memory; the same Map for all that have that namespace open. */
  slotsOf(prefix: Uint8Array): SlotsByKey {
    return this.#namespaces.of(Buffer.from(prefix).toString('latin1'), () => new Map())
  }

  /** The value of a slot, if it is still the host tier's; else undefined. */
  read(slot: number): unknown {
    const slots = this.#slots
    const { origin } = slots
    const index = this.#index
    const from = slot << 2
    // The word, then the epoch, which moves before a word can become what it was (`spec/memory.md`). One atomic load is
    // enough: no engine moves the other across it, nor takes its value from one on the far side of another hit's.
    if (index[origin[from + AT]] !== origin[from + VER]) return undefined
    const epoch = origin[from + EPOCH]
    const mark = origin[from + MARK]
    const value = slots.values[slot]
    const state = slots.state[slot]
    if ((state & ~COPIED) !== VISITED && !this.#isServed(slot, state)) return undefined
    // As late as possible: it is a call in Node, and compilers have forgotten what they knew when it returns.
    if (Atomics.load(index, this.#epochAt) !== epoch) return undefined
    // The host tier keeps what is read, and this is all that it sees of hits here. The read that brought the value
    // counted one; so many hits count as the most reads that there can be.
    if ((++this.hits & (LOOKS - 1)) === 0) this.#look(mark)
    return (state & COPIED) === 0 ? value : copyOut(value, slots.plan[slot])
  }

  /** Marks a host slot as read often, and reports the hits when it is time. */
  #look(mark: number): void {
    if (this.#visited[mark] !== MOST_READS) this.#visited[mark] = MOST_READS
    if (this.hits < this.#due) return
    this.#due = this.hits + Math.min(Math.max(this.hits >> 4, LOOKS), MOST_UNREPORTED)
    this.#report()
  }

  /** Like `read`, but not a use: nothing is counted or marked. */
  peek(slot: number): unknown {
    const slots = this.#slots
    const { origin, state } = slots
    const from = slot << 2
    if (this.#index[origin[from + AT]] !== origin[from + VER]) return undefined
    const value = slots.values[slot]
    const isTimed = (state[slot] & TIMED) !== 0
    if (isTimed && !slots.isServed(slot, this.#clock.now())) return undefined
    if (Atomics.load(this.#index, this.#epochAt) !== origin[from + EPOCH]) return undefined
    return (state[slot] & COPIED) === 0 ? value : copyOut(value, slots.plan[slot])
  }

  /** Whether `read` would give a value. Counts as a use. */
  has(slot: number): boolean {
    const { origin, state } = this.#slots
    const from = slot << 2
    const served =
      this.#index[origin[from + AT]] === origin[from + VER] &&
      this.#isServed(slot, state[slot]) &&
      Atomics.load(this.#index, this.#epochAt) === origin[from + EPOCH]
    if (served) this.hits++
    return served
  }

  #isServed(slot: number, state: number): boolean {
    if ((state & TIMED) !== 0 && !this.#slots.isServed(slot, this.#clock.now())) return false
    if ((state & VISITED) === 0) this.#store.visit(slot)
    return true
  }

  /** Whether a value just read, of a key that is not here, is not to be kept: `spec/memory.md`, "Admission". */
  turnsAway(origin: Origin): boolean {
    const store = this.#store
    return store.isCrowded && !this.#doorkeeper.admits(origin.slot, store.live)
  }

  /** What a reader gets of a value that is not kept; a `Graph` as `remember` gives one. */
  giveOnly(value: unknown): unknown {
    if (!this.freezes) return value
    try {
      return this.#keeper.keep(value)
    } catch {
      // It has no frozen form.
      return value
    }
  }

  /**
   * Keeps a value that was just read. Returns what its reader is given, or, for one that is frozen and holds values of
   * registered types, the `Graph` that makes it.
   */
  remember(slotsByKey: SlotsByKey, key: string, value: unknown, origin: Origin): unknown {
    let kept: unknown
    try {
      kept = this.#keeper.keep(value)
    } catch {
      // A value without a frozen form is read again each time.
      this.forget(slotsByKey, key)
      return value
    }
    const { plan, weight: bytes } = this.#keeper
    const weight = bytes + weighKey(key)
    const store = this.#store
    if (weight > store.bounds.maxBytes) {
      this.forget(slotsByKey, key)
      return this.freezes ? kept : value
    }
    const slots = this.#slots
    const found = slotsByKey.get(key)
    const flags = plan === AS_IS ? 0 : COPIED
    const slot = store.put(found, key, kept, weight, flags)
    if (slot !== found) slotsByKey.set(key, slot)
    slots.slotsByKey[slot] = slotsByKey
    slots.plan[slot] = plan
    const from = slot << 2
    slots.origin[from + AT] = this.#slotsAt + (origin.slot << 1)
    slots.origin[from + VER] = origin.ver
    slots.origin[from + EPOCH] = origin.epoch
    slots.origin[from + MARK] = this.#visitedAt + origin.slot
    if (origin.keptUntil !== 0) {
      slots.state[slot] |= TIMED
      slots.time(slot, origin.keptUntil, origin.keptUntil - origin.created)
    }
    // One that holds values of registered types is kept frozen, and has a plan all the same.
    return plan === AS_IS || this.freezes ? kept : value
  }

  /** Lets go of a value that the host tier no longer has. */
  forget(slotsByKey: SlotsByKey, key: string): void {
    const slot = slotsByKey.get(key)
    if (slot === undefined) return
    this.#drop(slot)
    this.#store.remove(slot)
  }

  #drop(slot: number): void {
    const slots = this.#slots
    slots.slotsByKey[slot]?.delete(slots.keys[slot])
    slots.slotsByKey[slot] = undefined
  }

  /** Lets go of everything, so that nothing is handed out any more. */
  close(): void {
    for (const slotsByKey of this.#namespaces) slotsByKey.clear()
    this.#store.clear()
    this.#doorkeeper.clear()
  }
}
