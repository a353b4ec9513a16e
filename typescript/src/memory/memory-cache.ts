import { InvalidArgument } from '../errors.ts'
import { fly } from '../flight.ts'
import { showAs } from '../inspect.ts'
import { listOf, pairOf } from '../option-names.ts'
import { uncloneable } from '../uncloneable.ts'
import { orAbort } from '../wait.ts'
import type { MemoryCore } from './core.ts'
import { MemoryEntries } from './entries.ts'
import { MemoryLoading } from './loads.ts'
import {
  checkSet,
  loadOf,
  type MemoryCacheOptions,
  type MemoryGetOptions,
  type MemoryLoader,
  type MemoryLoadOptions,
  type MemorySetOptions,
  ttlOrOwn,
} from './options.ts'
import { copyOut, type Plan } from './plan.ts'
import { SLIDING, TIMED } from './slots.ts'

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
  /** Entries whose time to live was over when they were freed. */
  expired: number
  /** Entries that made room for others. */
  evicted: number
  /** Loaded values that could not be stored. */
  unstored: number
  /** Callers who got `WaitTimeout`. */
  waitTimeouts: number
  /** Entries that are there; some may have expired. */
  entries: number
  /** Bytes that they weigh, with their keys, by an estimate. 0 when nothing is weighed. */
  bytes: number
}

/** What `setMany` takes: pairs, as a Map or a list has them, some of them with options of their own. */
export type Pairs<K, V> = Iterable<
  readonly [K, V] | readonly [K, V, MemorySetOptions<V> | undefined]
>

/** An entry as `dump` gives and `load` takes it, without anything that JSON lacks but perhaps the value. */
export interface DumpedEntry<V> {
  readonly value: V
  /** Milliseconds that it lives, from `start` on; absent for ever. */
  readonly ttl?: number
  /** Milliseconds since 1970. */
  readonly start?: number
  readonly sliding?: boolean
  /** Bytes that it weighs. */
  readonly size?: number
}

/**
 * A cache of this program's own: its objects, in memory, within bounds; only loads are waited for.
 *
 * Keys are compared as a `Map` compares them, and may be anything but undefined. A miss is `undefined`, which therefore
 * can't be stored; `null` can. Iterations go by the time at which a key came in; an entry that is set again stays in its
 * place. They may go on while the cache changes: what is deleted meanwhile is left out, what is added comes last. Where the
 * policy is `lru` they go from the entry that was used last to the one that was used longest ago, as it was when they began.
 */
export class MemoryCache<K = string, V = unknown> extends MemoryEntries<K, V> {
  /** @throws InvalidArgument for an option that is unknown or out of range */
  constructor(options?: MemoryCacheOptions<K, V>)
  /** @internal */
  constructor(options: MemoryCacheOptions<K, V> | MemoryCore<K, V> = {}) {
    super(options as MemoryCacheOptions<K, V>)
    uncloneable(this)
    showAs(this, () => {
      const { maxEntries, maxBytes } = this.core.store.bounds
      return { entries: this.size, maxEntries, bytes: this.bytes, maxBytes }
    })
  }

  /**
   * The values of those of the keys that are there, by key, in the order of the keys.
   * @throws InvalidArgument for what is no list: text is one key
   */
  getMany(keys: Iterable<K>): Map<K, V> {
    const found = new Map<K, V>()
    for (const key of listOf(keys, 'keys')) {
      const value = this.get(key)
      if (value !== undefined) found.set(key, value)
    }
    return found
  }

  /** Stores several values, one after the other: after an error, those before it are stored. */
  setMany(entries: Pairs<K, V>, options?: MemorySetOptions<V>): void {
    // Looked at once more with every pair, but also when there is none.
    if (options !== undefined) {
      checkSet(options)
      ttlOrOwn(options.ttl, 0)
    }
    for (const pair of listOf(entries, 'entries')) {
      const [key, value, own = options] = pairOf(pair)
      this.set(key, value, own)
    }
  }

  /**
   * Deletes several keys; returns how many had an entry.
   * @throws InvalidArgument for what is no list: text is one key
   */
  deleteMany(keys: Iterable<K>): number {
    let deleted = 0
    for (const key of listOf(keys, 'keys')) if (this.delete(key)) deleted++
    return deleted
  }

  /**
   * Adds to the number that the key has, from 0 where it has none, and returns the sum. The entry keeps its expiry, unless
   * it is sliding: then it begins anew.
   * @throws InvalidArgument where the key has no number, for `by` that is no finite number, and for a sum that is none
   */
  increment(key: K, by: number = 1): number {
    if (!Number.isFinite(by)) throw new InvalidArgument(`by is ${String(by)}: write a number`)
    const { ttl, sliding, slots } = this.core
    const value: unknown = this.peek(key)
    // What has expired may be served on, but not counted on.
    if (value === undefined || (this.core.behaviour.allowStale && !this.has(key))) {
      this.put(key, by as V, { ttl, sliding })
      return by
    }
    if (typeof value !== 'number') {
      throw new InvalidArgument(`the key has no number, but a value of type ${typeof value}`)
    }
    const sum = value + by
    if (!Number.isFinite(sum)) throw new InvalidArgument(`the sum is ${sum}: nothing is added`)
    const slot = this.slotOf(key) as number
    const state = slots.state[slot]
    if ((state & TIMED) === 0) this.put(key, sum as V, { ttl: 0, sliding: false })
    else {
      const slides = (state & SLIDING) !== 0
      const expires = slides ? undefined : slots.expires[slot]
      this.put(key, sum as V, { ttl: slots.ttl[slot], sliding: slides, expires })
    }
    return sum
  }

  /** Subtracts: see `increment`. */
  decrement(key: K, by: number = 1): number {
    if (typeof by !== 'number') throw new InvalidArgument(`by is ${String(by)}: write a number`)
    return this.increment(key, 0 - by)
  }

  /**
   * The key's value; when there is none, the loader's, which is stored. Of all callers one loads and the others wait for it,
   * for `waitTimeout` at most; a load that is older than `leaseTimeout` is waited for no longer, and one caller loads
   * beside it. When a loader fails, those who waited for it get its error; when it is aborted, one of them loads. A set,
   * delete or clear of the key during the load wins: the value is returned and not stored. A value that cannot be stored is
   * returned all the same, and reported (see `storeErrors`).
   *
   * @throws what the loader throws; the signal's reason; `WaitTimeout`; InvalidArgument for a loader that asks at once for
   *   the key that it loads; with `storeErrors: 'raise'` what `set` throws for the loaded value
   */
  async getOrSet(key: K, loader: MemoryLoader<K, V>, options?: MemoryLoadOptions<V>): Promise<V> {
    const { core } = this
    const { policy, writing } = loadOf(options, core.behaviour)
    const { signal, forceRefresh = false, context, status } = options ?? {}
    signal?.throwIfAborted()
    if (typeof loader !== 'function') throw new InvalidArgument('the loader is a function')
    const found = this.look(key, !forceRefresh)
    const stale = found?.value
    if (found?.isFresh && !forceRefresh) {
      if (status !== undefined) status.fetch = 'hit'
      return found.value as V
    }
    if (status !== undefined) status.fetch = forceRefresh ? 'refresh' : 'miss'
    const loading = fly({
      namespace: new MemoryLoading<K, V>(core, this.told(), {
        peek: () => {
          const other = this.look(key, true)
          return other?.isFresh ? other.value : undefined
        },
        store: (_key, value, _ttl, stands) => {
          if (stands) this.set(key, value as V, writing)
        },
      }),
      key,
      ttl: 0,
      loader: () => loader({ key, stale, signal, context, options: writing }),
      signal: policy.ignoreFetchAbort ? undefined : signal,
      joined: () => {
        if (status !== undefined) status.fetch = 'inflight'
      },
    }).catch((error: unknown) => {
      // Whoever aborts has not heard of a failure.
      const failed = !signal?.aborted || policy.ignoreFetchAbort
      const stays = policy.noDeleteOnFetchRejection || policy.allowStaleOnFetchRejection
      if (failed && !stays) this.#dropStale(key)
      throw error
    })
    if (stale === undefined) return loading
    if (policy.allowStale) {
      if (status !== undefined) {
        Object.assign(status, { fetch: 'stale', returnedStale: !found?.isFresh })
      }
      // The next caller hears of a failure: by then the expired value is gone, unless it is to stay.
      loading.catch(() => {})
      return stale
    }
    try {
      return await (policy.allowStaleOnFetchAbort ? orAbort(loading, signal) : loading)
    } catch (error) {
      const aborted = signal?.aborted && error === signal.reason
      const { allowStaleOnFetchAbort, allowStaleOnFetchRejection } = policy
      if (!(aborted ? allowStaleOnFetchAbort : allowStaleOnFetchRejection)) throw error
      if (status !== undefined) Object.assign(status, { returnedStale: true, fetchError: error })
      return stale
    }
  }

  /**
   * `getOrSet` with the cache's own `loader`.
   * @throws what `getOrSet` does; InvalidArgument for a cache without a loader
   */
  async fetch(key: K, options?: MemoryLoadOptions<V>): Promise<V> {
    const { loader } = this.core
    if (loader === undefined)
      throw new InvalidArgument('the cache has no loader: give it the option')
    return this.getOrSet(key, loader, options)
  }

  /**
   * The key's value; when there is none, what a function makes of it at once, which is stored: `getOrSet` without waiting.
   * @throws what the function throws, and what `set` throws for what it made
   */
  memo(
    key: K,
    make: (context: Parameters<MemoryLoader<K, V>>[0]) => V,
    options?: MemoryLoadOptions<V>,
  ): V {
    const { writing } = loadOf(options, this.core.behaviour)
    if (typeof make !== 'function') throw new InvalidArgument('what makes the value is a function')
    const { forceRefresh = false, context, signal } = options ?? {}
    const found = this.look(key, !forceRefresh)
    if (found?.isFresh && !forceRefresh) return found.value as V
    if (!forceRefresh) this.core.counts.misses++
    const value = make({ key, stale: found?.value, signal, context, options: writing })
    this.set(key, value, writing)
    // As the next call gets it.
    return this.core.keeper.converted ? (this.core.copyOf(value)() as V) : value
  }

  /** Takes out the entry that would be evicted next, and returns its value; undefined when there is none. */
  pop(): V | undefined {
    const { core } = this
    const { slots } = core
    let popped: { kept: V; plan: Plan } | undefined
    core.popping = (slot) => {
      const isTimed = (slots.state[slot] & TIMED) !== 0
      const isStale = isTimed && !slots.isServed(slot, core.clock.now())
      // Copied when all is done, for a copy may be the work of the user's code.
      if (isStale && !core.behaviour.allowStale) return
      popped = { kept: slots.values[slot], plan: slots.plan[slot] }
    }
    try {
      while (popped === undefined && this.size > 0) core.store.evict()
    } finally {
      core.popping = undefined
    }
    this.told().flush()
    return popped && (copyOut(popped.kept, popped.plan) as V)
  }

  /** The first value, as iterations go, for which a function gives something true: by `get`, so that it counts as a use. */
  find(
    wanted: (value: V, key: K, cache: this) => unknown,
    options?: MemoryGetOptions<V>,
  ): V | undefined {
    for (const [key, value] of this.entries()) {
      if (wanted(value, key, this)) return this.get(key, options)
    }
    return undefined
  }

  /** The values, as `peek` gives them. */
  values(): IterableIterator<V> {
    return this.living((slot) => this.give(slot))
  }

  /** Keys and values, as `peek` gives them. */
  entries(): IterableIterator<[K, V]> {
    return this.living((slot) => this.#pair(slot))
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.entries()
  }

  /** Like `keys`, from the end. */
  rkeys(): IterableIterator<K> {
    return this.living((slot) => this.core.slots.keys[slot], true)
  }

  /** Like `values`, from the end. */
  rvalues(): IterableIterator<V> {
    return this.living((slot) => this.give(slot), true)
  }

  /** Like `entries`, from the end. */
  rentries(): IterableIterator<[K, V]> {
    return this.living((slot) => this.#pair(slot), true)
  }

  /** Calls a function with each value, its key and the cache. */
  forEach(call: (value: V, key: K, cache: this) => unknown, thisArgument?: unknown): void {
    for (const [key, value] of this.entries()) call.call(thisArgument, value, key, this)
  }

  /** Like `forEach`, from the end. */
  rforEach(call: (value: V, key: K, cache: this) => unknown, thisArgument?: unknown): void {
    for (const [key, value] of this.rentries()) call.call(thisArgument, value, key, this)
  }

  /** The entries with what is known of them, for `load`: those that are the next to go come first. */
  dump(): [K, DumpedEntry<V>][] {
    const { slots, store } = this.core
    const dumped = this.living((slot): [K, DumpedEntry<V>] => {
      const state = slots.state[slot]
      const ttl = slots.ttl[slot]
      return [
        slots.keys[slot],
        {
          value: this.give(slot),
          ...((state & TIMED) !== 0 && { ttl, start: slots.expires[slot] - ttl }),
          ...((state & SLIDING) !== 0 && { sliding: true }),
          ...(store.weight > 0 && { size: slots.weights[slot] }),
        },
      ]
    }, this.isByUse)
    return [...dumped]
  }

  /**
   * Puts what `dump` gave in the place of everything. What has expired meanwhile is left out.
   * @throws what `set` throws; the entries before it are stored
   */
  load(dumped: Iterable<readonly [K, DumpedEntry<V>]>): void {
    this.clear()
    const now = this.core.clock.exactly()
    for (const [key, { value, ttl = 0, start = now, sliding = false, size }] of dumped) {
      const expires = ttl > 0 ? start + ttl : undefined
      if (expires !== undefined && expires <= now) continue
      this.put(key, value, { ttl, sliding, expires, size })
    }
  }

  /** Frees at once what has expired; returns how many entries that were. It happens by itself within seconds. */
  purgeExpired(): number {
    const before = this.core.freed
    this.core.sweeper.sweep()
    return this.core.freed - before
  }

  /** What it holds and what it did. */
  stats(): MemoryStats {
    const { counts, store } = this.core
    return { ...counts, entries: store.live, bytes: store.weight }
  }

  /** Begins to count anew what it did. */
  flushStats(): void {
    const { counts } = this.core
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] = 0
  }

  #pair(slot: number): [K, V] {
    return [this.core.slots.keys[slot], this.give(slot)]
  }

  /** After a loader has failed: what has expired would be served for ever. */
  #dropStale(key: K): void {
    const slot = this.slotOf(key)
    if (slot !== undefined && this.entry(key)?.stale) this.drop(key, slot, 'fetch')
  }
}
