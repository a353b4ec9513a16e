import type { Types } from '../entry/registered.ts'
import { type Mapping, MOST_READS } from '../host/mapping.ts'
import { CoarseClock } from './clock.ts'
import type { ResolvedMemory } from './options.ts'
import { MemoryOverTier, type ReadAt, TierSlots } from './over-tier.ts'
import { copyOut } from './plan.ts'
import { COPIED, resized, TIMED, VISITED } from './slots.ts'

/** Where a value was read in the host tier, as the tier there tells it. */
export interface Origin extends ReadAt {
  /** The number of the slot in the directory's index. */
  readonly slot: number
  /** The half of the slot's word that changes with each write. */
  readonly ver: number
  /** The epoch that was read before the word. */
  readonly epoch: number
}

/** With where the host tier has the entry. */
class HostSlots extends TierSlots {
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
export class MemoryOverHost extends MemoryOverTier<Origin, HostSlots> {
  /** At so many hits they are reported. */
  #due = 0
  readonly #report: () => void
  readonly #clock: CoarseClock
  readonly #index: Int32Array
  readonly #visited: Uint8Array
  readonly #epochAt: number
  readonly #slotsAt: number
  readonly #visitedAt: number

  constructor(
    mapping: Mapping,
    options: ResolvedMemory,
    clock: (() => number) | undefined,
    types: Types | undefined,
    report: () => void,
  ) {
    super(new HostSlots(), options, types)
    this.#report = report
    this.#clock = new CoarseClock(clock)
    this.#index = mapping.index
    this.#visited = mapping.indexBytes
    this.#epochAt = mapping.layout.epochAt >> 2
    this.#slotsAt = mapping.layout.slotsAt >> 2
    this.#visitedAt = mapping.layout.visitedAt
  }

  /** The value of a slot, if it is still the host tier's; else undefined. */
  read(slot: number): unknown {
    const slots = this.slots
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
    const slots = this.slots
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
    const { origin, state } = this.slots
    const from = slot << 2
    const served =
      this.#index[origin[from + AT]] === origin[from + VER] &&
      this.#isServed(slot, state[slot]) &&
      Atomics.load(this.#index, this.#epochAt) === origin[from + EPOCH]
    if (served) this.hits++
    return served
  }

  #isServed(slot: number, state: number): boolean {
    if ((state & TIMED) !== 0 && !this.slots.isServed(slot, this.#clock.now())) return false
    if ((state & VISITED) === 0) this.store.visit(slot)
    return true
  }

  protected place(slot: number, origin: Origin): void {
    const words = this.slots.origin
    const from = slot << 2
    words[from + AT] = this.#slotsAt + (origin.slot << 1)
    words[from + VER] = origin.ver
    words[from + EPOCH] = origin.epoch
    words[from + MARK] = this.#visitedAt + origin.slot
  }

  protected held({ slot, ver, epoch, created, keptUntil }: Origin): Origin {
    return { slot, ver, epoch, created, keptUntil }
  }
}
