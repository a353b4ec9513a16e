import { InvalidArgument } from '../errors.ts'
import { CoarseClock } from './clock.ts'
import { Keeper } from './keeper.ts'
import { checkMemoryCache, type MemoryCacheOptions, resolveMemory, ttlOf } from './options.ts'
import { CLOCK_TOLERANCE, GHOST, SLIDING, Slots, TIMED } from './slots.ts'
import { Store } from './store.ts'
import { type Sweepable, Sweeper } from './sweeper.ts'
import { weighKey } from './weigh-key.ts'

/** The latest expiry: what an entry of the other tiers has room for. */
const LATEST = 2 ** 48 - 1

/** The keys of one namespace. */
export interface Owner<K> {
  readonly index: Map<K, number>
  /** An entry of its own is about to go: evicted, or expired. */
  leaves(slot: number, expired: boolean): void
  /** All that were about to go have gone. */
  left(): void
}

/** What was done, of all namespaces. */
export interface Counts {
  hits: number
  misses: number
  writes: number
  deletes: number
  expired: number
  evicted: number
}

/** What the namespaces of a memory cache share: bounds, policy, clock, isolation. */
export class MemoryCore<K, V> {
  readonly slots: Slots<K, V, Owner<K>> = new Slots()
  readonly store: Store<K, V, Owner<K>>
  readonly keeper: Keeper
  readonly clock: CoarseClock
  readonly sweeper: Sweeper
  /** Milliseconds that an entry lives when its write does not say; 0 is for ever. */
  readonly ttl: number
  readonly sliding: boolean
  readonly counts: Counts = { hits: 0, misses: 0, writes: 0, deletes: 0, expired: 0, evicted: 0 }
  /** Namespaces that there have been. */
  #owners = 0
  /** When the last entry was given its expiry. */
  #latest: number = Number.NEGATIVE_INFINITY
  readonly #weigher: ((value: V, key: K) => number) | undefined
  readonly #weighs: boolean
  /** Held here: the sweeper holds it weakly. */
  readonly #sweepable: Sweepable

  /** @throws InvalidArgument */
  constructor(options: MemoryCacheOptions<K, V>) {
    checkMemoryCache(options as MemoryCacheOptions)
    const { bounds, policy, isolation, cloneInstance } = resolveMemory(options)
    const { slots, counts } = this
    this.#weigher = options.weigher
    this.#weighs = bounds.maxBytes !== Number.POSITIVE_INFINITY || this.#weigher !== undefined
    this.keeper = new Keeper(isolation, this.#weighs && this.#weigher === undefined, cloneInstance)
    this.ttl = ttlOf(options.ttl, 0)
    this.sliding = options.sliding ?? false
    this.clock = new CoarseClock(options.clock)
    this.store = new Store(slots, bounds, policy, {
      evicted: (slot) => {
        counts.evicted++
        slots.owners[slot].leaves(slot, false)
      },
      drop: (slot) => slots.owners[slot].index.delete(slots.keys[slot]),
    })
    this.#sweepable = {
      now: () => this.clock.exactly(),
      slots: () => slots.length,
      sweep: (from, to, now) => this.#sweep(from, to, now),
    }
    this.sweeper = new Sweeper(this.#sweepable)
  }

  /**
   * Bytes of an entry whose value the keeper has just kept.
   * @throws InvalidArgument for what is no weight
   */
  weigh(key: K, value: V): number {
    if (!this.#weighs) return 0
    if (this.#weigher === undefined) return this.keeper.weight + weighKey(key)
    const weight = this.#weigher(value, key)
    if (Number.isSafeInteger(weight) && weight >= 0) return weight
    throw new InvalidArgument(
      `the weigher returned ${String(weight)}: a weight is a whole number from 0 on`,
    )
  }

  /** Lets an entry expire after so many milliseconds; 0 is never. `then` is for one that keeps its expiry. */
  expireIn(slot: number, ms: number, sliding: boolean, then?: number): void {
    const { slots, sweeper } = this
    if (ms === 0) {
      slots.state[slot] &= ~(TIMED | SLIDING)
      return
    }
    const now = this.clock.exactly()
    const expires = then ?? Math.min(now + ms, LATEST)
    if (now > this.#latest) this.#latest = now
    slots.expires[slot] = expires
    slots.ttl[slot] = ms
    slots.state[slot] = (slots.state[slot] & ~SLIDING) | (sliding ? TIMED | SLIDING : TIMED)
    if (expires < sweeper.seen) sweeper.expect(expires, now)
  }

  /** Whether no entry has expired, nor is held back because the clock was set back. */
  allServed(): boolean {
    const now = this.clock.now()
    return now < this.sweeper.first && now >= this.#latest - CLOCK_TOLERANCE
  }

  /** A namespace more. */
  join(_owner: Owner<K>): void {
    this.#owners++
  }

  /** Deletes all that a namespace has. */
  clear({ index }: Owner<K>): void {
    const { slots, store } = this
    if (this.#owners > 1) {
      for (const slot of index.values()) {
        if ((slots.state[slot] & GHOST) === 0) store.remove(slot)
      }
      return
    }
    index.clear()
    store.clear()
    this.sweeper.clear()
  }

  /** Frees an entry that has expired; its owner tells of it when it is asked to. */
  expire(slot: number): void {
    this.counts.expired++
    this.slots.owners[slot].leaves(slot, true)
    this.store.remove(slot)
  }

  #sweep(from: number, to: number, now: number): number {
    const { state, expires, owners } = this.slots
    const told = new Set<Owner<K>>()
    let first = Number.POSITIVE_INFINITY
    for (let slot = from; slot < to; slot++) {
      if ((state[slot] & TIMED) === 0) continue
      if (expires[slot] > now) {
        if (expires[slot] < first) first = expires[slot]
      } else {
        told.add(owners[slot])
        this.expire(slot)
      }
    }
    for (const owner of told) owner.left()
    return first
  }
}
