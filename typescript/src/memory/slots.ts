import { CLOCK_TOLERANCE } from '../entry/validity.ts'

/** Bits of a slot's state. A slot whose state is just VISITED needs nothing but its value: the quick way of a hit. */
export const VISITED = 1
/** It has an expiry. */
export const TIMED = 2
/** Reading it sets its expiry anew. */
export const SLIDING = 4
/** What is handed out is a copy of the value. */
export const COPIED = 8
/** The policy wants to hear of every hit. */
export const ORDERED = 16
/** It has expired, that was told, and it stays. */
export const TOLD = 32

/** Slots that there is room for at first, and that a clear keeps. */
const FEW = 128

/**
 * The entries of a cache as columns: an entry is a slot, an index into all of them. Columns because a hit then touches a
 * byte of state and a pointer, in arrays so small that the processor has them at hand; an object an entry took 1.3 times
 * as long.
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
  /** Milliseconds from the write, or the last read where SLIDING, to then. Only where TIMED. */
  ttl: Float64Array = new Float64Array(FEW)
  /** Bytes. */
  weights: Float64Array = new Float64Array(FEW)
  /** The policy's queues, linked both ways. `next` of a free slot is another free one. */
  next: Int32Array = new Int32Array(FEW)
  previous: Int32Array = new Int32Array(FEW)

  /** No entry is held back at this time or after it, for none was written later: see `isServed`. */
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

  /** Gives all slots back. The room of a few is kept: clearing a small cache is not to cost what filling it does. */
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
   * Whether a TIMED entry is served at a time: not from its expiry on, and not while the clock stands well before its
   * writing, or setting the clock back would let it live on.
   */
  isServed(slot: number, now: number): boolean {
    const expires = this.expires[slot]
    // Hardly ever does the clock stand before the last writing: one column less to look into.
    const isSet = now >= this.settled || now >= expires - this.ttl[slot] - CLOCK_TOLERANCE
    return isSet && now < expires
  }

  /** Gives an entry its expiry, and the milliseconds from its writing to then. */
  time(slot: number, expires: number, ttl: number): void {
    this.expires[slot] = expires
    this.ttl[slot] = ttl
    this.settled = Math.max(this.settled, expires - ttl - CLOCK_TOLERANCE)
  }

  protected resize(size: number): void {
    this.state = resized(this.state, size)
    this.plan = resized(this.plan, size)
    this.expires = resized(this.expires, size)
    this.ttl = resized(this.ttl, size)
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
