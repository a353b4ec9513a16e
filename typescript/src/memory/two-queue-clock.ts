import { Ghosts } from './ghosts.ts'
import { hashOf, NO_HASH } from './hash.ts'
import type { Policy } from './policy.ts'
import { Queue } from './queue.ts'
import { resized, type Slots, VISITED } from './slots.ts'

/** The small queue's goal is counted in these parts of an entry. */
const PARTS = 25
/** The goal's bounds and where it begins, as divisors of the entries: 1 %, 10 %, 2 %. */
const LEAST = 100
const MOST = 10
const START = 50
/** Keys that left the small queue are remembered for so many further ones, times the entries. */
const GHOSTS = 2
/** Entries that the hand passes in one challenge. */
const STEPS = 6
const MOST_COUNTED = 7
/** What a challenger beats: an entry that is not visited and counts less. */
const OF_VISITED = 1
const OF_GHOST = 2

/** Instead of a count: the entry is in the small queue. */
const SMALL = MOST_COUNTED + 1

/**
 * 2Q-CLOCK (`spec/eviction.md`). New keys enter a small FIFO queue, whose share adapts. Those that are asked for there, and
 * those that come back soon after they left it, challenge the entry under the hand of the main queue, a CLOCK that counts:
 * it goes only if it has been idle for longer than the challenger was away. A hit sets one bit.
 */
export class TwoQueueClock implements Policy {
  readonly initial: number = 0
  readonly #slots: Slots<unknown, unknown>
  readonly #leave: (slot: number) => void
  readonly #small: Queue
  readonly #main: Queue
  readonly #ghosts = new Ghosts()
  /** By slot: what it counts in the main queue, or SMALL; its key's hash. */
  #counts = new Uint8Array(0)
  #hashes = new Int32Array(0)
  /** By slot: the insertions so far when it came in, or when the hand passed it last. */
  #seen = new Uint32Array(0)
  /** Arrivals so far, modulo 2^32. */
  #insertions = 0
  /** In parts; 0 before it is first asked for. */
  #goal = 0
  /** Its bounds, for so many entries. */
  #least = 0
  #most = 0
  #boundsOf = -1
  /** The key that arrives. */
  #hash = 0
  #count = SMALL

  constructor(slots: Slots<unknown, unknown>, leave: (slot: number) => void) {
    this.#slots = slots
    this.#leave = leave
    this.#small = new Queue(slots)
    this.#main = new Queue(slots)
  }

  arrive(key: unknown, full: boolean): void {
    this.#insertions = (this.#insertions + 1) >>> 0
    this.#hash = NO_HASH
    this.#count = SMALL
    if (this.#ghosts.size === 0) return
    this.#hash = hashOf(key)
    const born = this.#ghosts.recall(this.#hash, GHOSTS * this.#length())
    if (!full || born < 0) return
    if (this.#challenge((this.#insertions - born) >>> 0, OF_GHOST)) this.#count = 0
  }

  add(slot: number): void {
    if (slot >= this.#counts.length) this.#grow()
    this.#hashes[slot] = this.#hash
    this.#enter(this.#count, slot)
  }

  hit(): void {}

  remove(slot: number): void {
    this.#queueOf(slot).remove(slot)
  }

  /** One entry leaves, or one goes from the small to the main queue. */
  evict(): void {
    const small = this.#small
    if (small.length < this.#goalOfSmall() && this.#challenge(0, OF_VISITED)) return
    const slot = small.front
    if (slot < 0) {
      // All entries that the hand passed are to stay, but one has to go.
      const oldest = this.#main.front
      this.#main.remove(oldest)
      this.#leave(oldest)
      return
    }
    const visited = (this.#slots.state[slot] & VISITED) !== 0
    if (visited) this.#moveGoal(PARTS)
    if (small.length > this.#goalOfSmall() || (visited && this.#challenge(0, OF_VISITED))) {
      small.remove(slot)
      this.#slots.state[slot] &= ~VISITED
      this.#enter(0, slot)
      return
    }
    // A cache that was never full hashes nothing.
    const hash = this.#hashes[slot] || hashOf(this.#slots.keys[slot])
    this.#ghosts.bury(hash, this.#seen[slot], GHOSTS * this.#length())
    this.#moveGoal(-1)
    small.remove(slot)
    this.#leave(slot)
  }

  clear(): void {
    this.#small.clear()
    this.#main.clear()
    this.#ghosts.clear()
    this.#goal = this.#insertions = 0
    this.#boundsOf = -1
  }

  /** True when an entry has left the main queue for a challenger that was away so long. */
  #challenge(away: number, strength: number): boolean {
    const { state } = this.#slots
    const main = this.#main
    for (let step = 0; step < STEPS; step++) {
      const slot = main.front
      if (slot < 0) return false
      if (away > 0 && (this.#insertions - this.#seen[slot]) >>> 0 < away) return false
      this.#seen[slot] = this.#insertions
      if ((state[slot] & VISITED) !== 0) {
        state[slot] &= ~VISITED
        if (this.#counts[slot] < MOST_COUNTED) this.#counts[slot]++
      } else if (this.#counts[slot] >= strength) {
        this.#counts[slot]--
      } else {
        main.remove(slot)
        this.#leave(slot)
        return true
      }
      main.requeue(slot)
    }
    return false
  }

  /** Puts an entry into the small queue, or with another count than SMALL into the main one. */
  #enter(count: number, slot: number): void {
    this.#counts[slot] = count
    this.#seen[slot] = this.#insertions
    this.#queueOf(slot).push(slot)
  }

  #queueOf(slot: number): Queue {
    return this.#counts[slot] === SMALL ? this.#small : this.#main
  }

  #length(): number {
    return this.#small.length + this.#main.length
  }

  /** Entries that the small queue should have. */
  #goalOfSmall(): number {
    this.#moveGoal(0)
    return (this.#goal / PARTS) | 0
  }

  #moveGoal(parts: number): void {
    const length = this.#small.length + this.#main.length
    if (length !== this.#boundsOf) this.#setBounds(length)
    const goal = this.#goal + parts
    this.#goal = goal < this.#least ? this.#least : goal > this.#most ? this.#most : goal
  }

  #setBounds(length: number): void {
    this.#boundsOf = length
    this.#least = share(length, LEAST)
    this.#most = share(length, MOST)
    if (this.#goal === 0) this.#goal = share(length, START)
  }

  #grow(): void {
    const { length } = this.#slots.state
    this.#counts = resized(this.#counts, length)
    this.#hashes = resized(this.#hashes, length)
    this.#seen = resized(this.#seen, length)
  }
}

/** In parts; one entry at least. */
function share(entries: number, divisor: number): number {
  return Math.max(((entries * PARTS) / divisor) | 0, PARTS)
}
