import { CLOCK_TOLERANCE } from '../entry/validity.ts'
import type { Timed } from './entry.ts'

/** Bits of a slot's state. A slot whose state is just VISITED needs nothing but its value: the fast way of a hit. */
export const VISITED = 1
/** It has an expiry. */
export const TIMED = 2
/** It has a time to idle, which each use begins anew. Always with TIMED. */
export const IDLE = 4
/** What is handed out is a copy of the value. */
export const COPIED = 8
/** The policy wants to hear of every hit. */
export const ORDERED = 16
/** It has expired, listeners were told, and it stays. */
export const TOLD = 32

/** Slots that there is room for at first, and that a clear keeps. */
const FEW = 128

/**
 * The entries of a cache as columns: an entry is a slot, an index into all of them. A hit then touches a byte of state
 * and a pointer, in arrays small enough for the processor's caches; with an object for each entry it took 1.3 times as
 * long.
 */
export class Slots<K, V> {
  /** Slots in use, and those that are free among them. */
  length = 0

  readonly keys: K[] = []
  readonly values: V[] = []
  state: Uint8Array = new Uint8Array(FEW)
  /** How a copy of the value is made: what `clone` found out about it. */
  plan: Uint8Array = new Uint8Array(FEW)
  /** Milliseconds since 1970. Only where TIMED. */
  expires: Float64Array = new Float64Array(FEW)
  /** Milliseconds from the write, or for IDLE the last use, to then. Only where TIMED. */
  ttl: Float64Array = new Float64Array(FEW)
  /**
   * Milliseconds that it lives without a use, and when its time to live ends in any case: milliseconds since 1970, or
   * infinite. Only where IDLE: they have no room before the first such entry.
   */
  idle: Float64Array = new Float64Array(0)
  deadline: Float64Array = new Float64Array(0)
  /** Bytes. */
  weights: Float64Array = new Float64Array(FEW)
  /** The policy's queues, linked both ways. `next` of a free slot is another free one. */
  next: Int32Array = new Int32Array(FEW)
  previous: Int32Array = new Int32Array(FEW)

  /** No entry is hidden at this time or after it, because none was written later: see `isServed`. */
  settled: number = Number.NEGATIVE_INFINITY

  #free = -1

  /** A slot with a key and a value; its other columns are the caller's to fill. */
  take(key: K, value: V): number {
    let slot = this.#free
    if (slot < 0) {
      slot = this.length++
      if (slot === this.state.length) this.resize(2 * slot)
      if (slot === this.keys.length) {
        // Pushed, so that the arrays have no holes that every read would look for.
        this.keys.push(key)
        this.values.push(value)
        return slot
      }
    } else {
      this.#free = this.next[slot]
    }
    this.keys[slot] = key
    this.values[slot] = value
    return slot
  }

  /** Gives a slot back, and lets go of what it held. */
  free(slot: number): void {
    this.keys[slot] = undefined as K
    this.values[slot] = undefined as V
    this.state[slot] = 0
    this.next[slot] = this.#free
    this.#free = slot
  }

  /** Gives all slots back. Keeps the room of a few, so that clearing a small cache is cheap. */
  clear(): void {
    const { length } = this
    this.length = 0
    this.settled = Number.NEGATIVE_INFINITY
    this.#free = -1
    if (this.state.length > FEW) {
      this.keys.length = this.values.length = 0
      this.resize(FEW)
    } else {
      this.keys.fill(undefined as K, 0, length)
      this.values.fill(undefined as V, 0, length)
    }
  }

  /**
   * Whether a TIMED entry is served at a time: not from its expiry on, and not while the clock is well before its
   * writing; otherwise setting the clock back would let it live on.
   */
  isServed(slot: number, now: number): boolean {
    const expires = this.expires[slot]
    // The clock is hardly ever before the last writing: this saves a look into one column.
    const isSet = now >= this.settled || now >= expires - this.ttl[slot] - CLOCK_TOLERANCE
    return isSet && now < expires
  }

  /** Gives an entry its expiry, and the milliseconds from its writing to then. */
  time(slot: number, expires: number, ttl: number): void {
    this.expires[slot] = expires
    this.ttl[slot] = ttl
    this.settled = Math.max(this.settled, expires - ttl - CLOCK_TOLERANCE)
  }

  /** Gives an entry a time to idle, and the end of its time to live. */
  timeIdle(slot: number, idle: number, deadline: number): void {
    if (this.idle.length === 0) {
      this.idle = new Float64Array(this.state.length)
      this.deadline = new Float64Array(this.state.length)
    }
    this.idle[slot] = idle
    this.deadline[slot] = deadline
  }

  /** The times of an entry that is written again and keeps its time to live. Its time to idle begins again. */
  timesOf(slot: number): Timed {
    const state = this.state[slot]
    if ((state & TIMED) === 0) return { ttl: 0, idle: 0 }
    if ((state & IDLE) === 0) return { ttl: this.ttl[slot], idle: 0, expires: this.expires[slot] }
    return { ttl: 0, idle: this.idle[slot], expires: this.deadline[slot] }
  }

  protected resize(size: number): void {
    this.state = resized(this.state, size)
    this.plan = resized(this.plan, size)
    this.expires = resized(this.expires, size)
    this.ttl = resized(this.ttl, size)
    if (this.idle.length > 0) {
      this.idle = resized(this.idle, size)
      this.deadline = resized(this.deadline, size)
    }
    this.weights = resized(this.weights, size)
    this.next = resized(this.next, size)
    this.previous = resized(this.previous, size)
  }
}

type Column = Uint8Array | Int32Array | Uint32Array | Float64Array

/** A column with room for more or fewer. */
export function resized<C extends Column>(column: C, size: number): C {
  const other = new (column.constructor as new (size: number) => C)(size)
  other.set(column.subarray(0, size))
  return other
}
