import type { Duration } from '../duration.ts'
import { EntryTooLarge, InvalidArgument, InvalidKey, UnsupportedValue } from '../errors.ts'
import { MemoryCore, Owner } from './core.ts'
import { type EventName, type Listener, Listeners, tell } from './events.ts'
import { listOf, pairOf } from '../option-names.ts'
import { checkSet, type MemoryCacheOptions, type MemorySetOptions, ttlOrOwn } from './options.ts'
import { AS_IS, copyOut } from './plan.ts'
import { COPIED, ORDERED, SLIDING, type Slots, TIMED, VISITED } from './slots.ts'

/** An entry as `MemoryCache.entry` tells of it. */
export interface MemoryEntry<V> {
  readonly value: V
  /** Milliseconds since 1970 at which it expires; `Infinity` when it does not. */
  readonly expires: number
  /** Whether it has expired. Such an entry is told of until it is freed, and by `entry` only. */
  readonly stale: boolean
}

/** What a `MemoryCache` holds, and what became of the rest. */
export interface MemoryStats {
  /** Reads that found an entry. */
  hits: number
  /** Reads that found none. */
  misses: number
  /** Entries stored. */
  writes: number
  /** Entries deleted or taken. */
  deletes: number
  /** Entries freed after their time to live was over. */
  expired: number
  /** Entries that made room for others. */
  evicted: number
  /** Entries that are there; some may have expired. */
  entries: number
  /** Bytes that they weigh, with their keys, by an estimate. 0 when nothing is weighed. */
  bytes: number
}

/** What `setMany` takes: pairs, as a Map or a list has them. */
export type Pairs<K, V> = Iterable<readonly [K, V]>

/**
 * A cache of this program's own: its objects, in memory, within bounds, without a promise in sight.
 *
 * Keys are compared as a `Map` compares them, and may be anything but undefined. A miss is `undefined`, which therefore
 * can't be stored; `null` can. Iterations go by the time at which a key came in; an entry that is set again stays in its
 * place. They may go on while the cache changes: what is deleted meanwhile is left out, what is added comes last.
 */
export class MemoryCache<K = string, V = unknown> {
  readonly #core: MemoryCore<K, V>
  readonly #slots: Slots<K, V>
  readonly #owner = new Owner<K>()
  readonly #index: Map<K, number> = this.#owner.index
  /** Undefined while nobody listens. */
  #listeners: Listeners | undefined

  /** @throws InvalidArgument for an option that is unknown or out of range */
  constructor(options?: MemoryCacheOptions<K, V>)
  /** @internal */
  constructor(options: MemoryCacheOptions<K, V> | MemoryCore<K, V> = {}) {
    this.#core = options instanceof MemoryCore ? options : new MemoryCore(options)
    this.#slots = this.#core.slots
    this.#core.join(this.#owner)
  }

  /** Entries that are there. Some may have expired: they are freed when they are read, and within seconds if they are not. */
  get size(): number {
    return this.#core.store.live
  }

  /** Bytes that the entries weigh with their keys, by an estimate or the `weigher`; 0 when nothing is weighed. */
  get bytes(): number {
    return this.#core.store.weight
  }

  /** The key's value; undefined when there is none. */
  get(key: K): V | undefined {
    const slot = this.#index.get(key)
    if (slot === undefined) return this.#miss(key)
    const slots = this.#slots
    const state = slots.state[slot]
    if (state !== VISITED || this.#listeners !== undefined) return this.#hit(slot, state, key)
    this.#core.counts.hits++
    return slots.values[slot]
  }

  /** Like `get`, but it counts as no use: the entry's place and time to live stay, and nobody is told. */
  peek(key: K): V | undefined {
    const slot = this.#find(key)
    return slot < 0 ? undefined : this.#give(slot)
  }

  /** Whether the key has an entry. Counts as no use. */
  has(key: K): boolean {
    const slot = this.#index.get(key)
    if (slot === undefined) return false
    const state = this.#slots.state[slot]
    return (state & TIMED) === 0 || this.#slots.isServed(slot, this.#core.clock.now())
  }

  /** The key's value with its expiry, also after that, as long as it is not freed. Counts as no use. */
  entry(key: K): MemoryEntry<V> | undefined {
    const slot = this.#index.get(key)
    if (slot === undefined) return undefined
    const expires = this.#expiryOf(slot)
    const stale =
      expires !== Number.POSITIVE_INFINITY && !this.#slots.isServed(slot, this.#core.clock.now())
    return { value: this.#give(slot), expires, stale }
  }

  /** Milliseconds that the key's entry has left, `Infinity` when it does not expire; undefined when there is none. */
  ttl(key: K): number | undefined {
    const slot = this.#find(key)
    if (slot < 0) return undefined
    // It may expire between two looks at the clock.
    return Math.max(this.#expiryOf(slot) - this.#core.clock.now(), 0)
  }

  /**
   * Stores a value.
   * @throws UnsupportedValue for undefined, and for what the isolation has no copy of; InvalidArgument; both change
   *   nothing. EntryTooLarge for one that is heavier than all entries may be: then the old value is gone as well
   */
  set(key: K, value: V, options?: MemorySetOptions): void {
    let { ttl, sliding } = this.#core
    if (options !== undefined) {
      checkSet(options)
      ttl = ttlOrOwn(options.ttl, ttl)
      sliding = options.sliding ?? sliding
    }
    this.#put(key, value, ttl, sliding)
  }

  /** Deletes the key; true when it had an entry. */
  delete(key: K): boolean {
    const slot = this.#find(key)
    if (slot < 0) return false
    this.#delete(key, slot)
    return true
  }

  /** Deletes the key and returns the value that it had. Is a hit or a miss, and a hit is told of first. */
  take(key: K): V | undefined {
    const slot = this.#find(key)
    if (slot < 0) return this.#miss(key)
    this.#core.counts.hits++
    const kept = this.#slots.values[slot]
    const plan = this.#slots.plan[slot]
    const heard = this.#listeners?.hit
    if (heard !== undefined) this.#listeners?.postpone(heard, key, kept, plan)
    this.#delete(key, slot)
    return copyOut(kept, plan) as V
  }

  /** The values of those of the keys that are there, by key, in the order of the keys. */
  getMany(keys: Iterable<K>): Map<K, V> {
    const found = new Map<K, V>()
    for (const key of listOf(keys, 'keys')) {
      const value = this.get(key)
      if (value !== undefined) found.set(key, value)
    }
    return found
  }

  /** Stores several values, one after the other: after an error, those before it are stored. */
  setMany(entries: Pairs<K, V>, options?: MemorySetOptions): void {
    // Looked at once more with every pair, but also when there is none.
    if (options !== undefined) {
      checkSet(options)
      ttlOrOwn(options.ttl, 0)
    }
    for (const pair of listOf(entries, 'entries')) {
      const [key, value] = pairOf(pair)
      this.set(key, value, options)
    }
  }

  /** Deletes several keys; returns how many had an entry. */
  deleteMany(keys: Iterable<K>): number {
    let deleted = 0
    for (const key of listOf(keys, 'keys')) if (this.delete(key)) deleted++
    return deleted
  }

  /**
   * Sets the key's time to live anew, to the cache's `ttl` or another, `null` for ever. Counts as a use.
   * @returns whether the key has an entry
   * @throws InvalidArgument
   */
  touch(key: K, ttl?: Duration | null): boolean {
    const ms = ttlOrOwn(ttl, this.#core.ttl)
    const slot = this.#find(key)
    if (slot < 0) return false
    this.#core.expireIn(slot, ms, (this.#slots.state[slot] & SLIDING) !== 0)
    this.#core.store.visit(slot)
    return true
  }

  /**
   * Adds to the number that the key has, from 0 where it has none, and returns the sum. The entry keeps its expiry, unless
   * it is sliding: then it begins anew.
   * @throws InvalidArgument where the key has no number, for `by` that is no finite number, and for a sum that is none
   */
  increment(key: K, by: number = 1): number {
    if (!Number.isFinite(by)) throw new InvalidArgument(`by is ${String(by)}: write a number`)
    const slot = this.#find(key)
    if (slot < 0) {
      this.#put(key, by as V, this.#core.ttl, this.#core.sliding)
      return by
    }
    const value: unknown = this.#slots.values[slot]
    if (typeof value !== 'number') {
      throw new InvalidArgument(`the key has no number, but a value of type ${typeof value}`)
    }
    const sum = value + by
    if (!Number.isFinite(sum)) throw new InvalidArgument(`the sum is ${sum}: nothing is added`)
    const state = this.#slots.state[slot]
    if ((state & TIMED) === 0) this.#put(key, sum as V, 0, false)
    else if ((state & SLIDING) !== 0) this.#put(key, sum as V, this.#slots.ttl[slot], true)
    else this.#put(key, sum as V, this.#slots.ttl[slot], false, this.#slots.expires[slot])
    return sum
  }

  /** Subtracts: see `increment`. */
  decrement(key: K, by: number = 1): number {
    if (typeof by !== 'number') throw new InvalidArgument(`by is ${String(by)}: write a number`)
    return this.increment(key, 0 - by)
  }

  /** Deletes everything. What was counted stays. */
  clear(): void {
    this.#core.clear(this.#owner)
    if (this.#listeners?.clear !== undefined) tell(this.#listeners.clear)
  }

  /** The keys that have an entry. One that expires while the iteration goes on may be among them. */
  keys(): IterableIterator<K> {
    // The index itself, when nothing there has expired.
    if (this.#core.allServed()) return this.#index.keys()
    return this.#living((slot) => this.#slots.keys[slot])
  }

  /** The values, as `peek` gives them. */
  values(): IterableIterator<V> {
    return this.#living((slot) => this.#give(slot))
  }

  /** Keys and values, as `peek` gives them. */
  entries(): IterableIterator<[K, V]> {
    return this.#living((slot) => [this.#slots.keys[slot], this.#give(slot)])
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.entries()
  }

  /** Frees at once what has expired; returns how many entries that were. It happens by itself within seconds. */
  purgeExpired(): number {
    const { counts, sweeper } = this.#core
    const before = counts.expired
    sweeper.sweep()
    return counts.expired - before
  }

  /** What it holds and what it did. */
  stats(): MemoryStats {
    const { counts, store } = this.#core
    return { ...counts, entries: store.live, bytes: store.weight }
  }

  /**
   * Calls a function whenever something happens, after it has. It may use the cache; what it throws, the caller of the
   * operation gets. Values are as `peek` gives them. Nothing is spent on events that nobody listens to.
   * @throws InvalidArgument
   */
  on<E extends EventName>(event: E, listener: Listener<K, V, E>): this {
    this.#listeners = this.#owner.listeners ??= new Listeners()
    this.#listeners.add(event, listener as (...told: unknown[]) => void)
    return this
  }

  /** Calls a function no longer. */
  off<E extends EventName>(event: E, listener: Listener<K, V, E>): this {
    const listeners = this.#listeners ?? new Listeners()
    listeners.remove(event, listener as (...told: unknown[]) => void)
    // Reads are quicker without.
    if (!listeners.heard) this.#listeners = undefined
    return this
  }

  /** Deletes everything. The cache may be used on. */
  [Symbol.dispose](): void {
    this.clear()
  }

  /** A read of a slot that is not just VISITED, or that somebody may want to hear of. */
  #hit(slot: number, state: number, key: K): V | undefined {
    const slots = this.#slots
    if ((state & TIMED) !== 0) {
      if (!slots.isServed(slot, this.#core.clock.now())) {
        this.#core.expire(slot)
        return this.#miss(key)
      }
      if ((state & SLIDING) !== 0) this.#core.expireIn(slot, slots.ttl[slot], true)
    }
    if ((state & VISITED) === 0) this.#core.store.visit(slot)
    this.#core.counts.hits++
    const value = slots.values[slot]
    const plan = slots.plan[slot]
    const heard = this.#listeners?.hit
    if (heard !== undefined) tell(heard, key, copyOut(value, plan))
    return (state & COPIED) === 0 ? value : (copyOut(value, plan) as V)
  }

  #miss(key: K): undefined {
    this.#core.counts.misses++
    const listeners = this.#listeners
    if (listeners === undefined) return
    // What expired by the same read comes first.
    listeners.flush()
    if (listeners.miss !== undefined) tell(listeners.miss, key)
  }

  /** The slot of a key's entry; -1 when there is none. One that has expired is freed. */
  #find(key: K): number {
    const slot = this.#index.get(key)
    if (slot === undefined) return -1
    if ((this.#slots.state[slot] & TIMED) === 0) return slot
    if (this.#slots.isServed(slot, this.#core.clock.now())) return slot
    this.#core.expire(slot)
    this.#listeners?.flush()
    return -1
  }

  /** The value for one who asked for it. */
  #give(slot: number): V {
    const value = this.#slots.values[slot]
    if ((this.#slots.state[slot] & COPIED) === 0) return value
    return copyOut(value, this.#slots.plan[slot]) as V
  }

  /** `expires` is for an entry that keeps its expiry. */
  #put(key: K, value: V, ttl: number, sliding: boolean, expires?: number): void {
    if (value === undefined) throw new UnsupportedValue('$', 'undefined is what a miss gives')
    if (key === undefined) throw new InvalidKey('undefined is no key')
    const core = this.#core
    const { keeper } = core
    // First, for these may run code of the user's.
    const kept = keeper.keep(value) as V
    const { plan } = keeper
    const flags = plan === AS_IS ? 0 : COPIED
    const weight = core.weigh(key, value)
    const slots = this.#slots
    const { state } = slots
    let slot = this.#index.get(key)
    if (slot !== undefined && (state[slot] & ORDERED) === 0 && slots.weights[slot] === weight) {
      // The same as `Store.put`, when it has nothing to do but this.
      slots.values[slot] = kept
      state[slot] = VISITED | flags
    } else {
      slot = this.#putSlowly(slot, key, kept, weight, flags)
    }
    slots.plan[slot] = plan
    core.counts.writes++
    if (ttl > 0) core.expireIn(slot, ttl, sliding, expires)
    if (this.#listeners !== undefined) this.#tellOfSet(this.#listeners, key, kept, plan)
  }

  #putSlowly(found: number | undefined, key: K, kept: V, weight: number, flags: number): number {
    const { store, owners } = this.#core
    if (weight > store.bounds.maxBytes) this.#refuse(key, weight)
    const slot = store.put(found, key, kept, weight, flags)
    if (slot !== found) this.#index.set(key, slot)
    if (owners !== undefined) owners[slot] = this.#owner
    return slot
  }

  /** What the entry should have replaced is superseded. */
  #refuse(key: K, weight: number): never {
    this.delete(key)
    const limit = this.#core.store.bounds.maxBytes
    throw new EntryTooLarge(
      `the entry weighs ${weight} bytes, and all entries together may weigh ${limit}`,
      weight,
      limit,
    )
  }

  #expiryOf(slot: number): number {
    if ((this.#slots.state[slot] & TIMED) === 0) return Number.POSITIVE_INFINITY
    return this.#slots.expires[slot]
  }

  /** Deletes an entry and tells of it. */
  #delete(key: K, slot: number): void {
    const core = this.#core
    core.counts.deletes++
    const listeners = this.#listeners
    const heard = listeners?.delete
    if (heard !== undefined) {
      const { keys, values, plan } = this.#slots
      listeners?.postpone(heard, keys[slot], values[slot], plan[slot])
    }
    core.remove(this.#index, key, slot)
    listeners?.flush()
  }

  #tellOfSet(listeners: Listeners, key: K, kept: V, plan: number): void {
    listeners.flush()
    if (listeners.set !== undefined) tell(listeners.set, key, copyOut(kept, plan))
  }

  /** Something of each entry that is there when its turn comes. */
  *#living<T>(give: (slot: number) => T): Generator<T, void, undefined> {
    for (const slot of this.#index.values()) {
      const state = this.#slots.state[slot]
      if ((state & TIMED) !== 0 && !this.#slots.isServed(slot, this.#core.clock.now())) continue
      yield give(slot)
    }
  }
}
