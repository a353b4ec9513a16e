import { InvalidArgument, WrongType } from '../errors.ts'
import { fly } from '../flight.ts'
import {
  flyMany,
  flyManySync,
  inOrder,
  type ManyLoader,
  type ManyRequest,
  type SyncManyLoader,
} from '../flight-many.ts'
import { flySync } from '../flight-sync.ts'
import { showAs } from '../inspect.ts'
import type { Memoized, MemoizeOptions } from '../memoize.ts'
import { checkLoader, listOf, pairOf } from '../option-names.ts'
import { uncloneable } from '../uncloneable.ts'
import { orAbort } from '../wait.ts'
import type { MemoryCore } from './core.ts'
import { MemoryEntries } from './entries.ts'
import {
  loadManyOf,
  loadOf,
  type MemoryLoader,
  type MemoryLoadManyOptions,
  type MemoryLoadOptions,
  type MemorySyncLoader,
  type MemorySyncLoadManyOptions,
  type MemorySyncLoadOptions,
  syncLoadOf,
  type Writing,
} from './load-options.ts'
import { MemoryLoading } from './loads.ts'
import { memoized } from './memoized.ts'
import {
  checkSet,
  checkTimes,
  type MemoryCacheOptions,
  type MemoryGetOptions,
  type MemorySetOptions,
} from './options.ts'
import { copyOut, type Plan } from './plan.ts'
import { IDLE, TIMED } from './slots.ts'
import type { MemoryStats } from './stats.ts'

/** What `setMany` takes: pairs, as a Map or a list has them, some of them with their own options. */
export type Pairs<K, V> = Iterable<
  readonly [K, V] | readonly [K, V, MemorySetOptions<V> | undefined]
>

/** An entry as `dump` gives and `load` takes it. Only the value may be something that JSON lacks. */
export interface DumpedEntry<V> {
  readonly value: V
  /** Milliseconds that it lives, from `start` on; absent for ever. */
  readonly ttl?: number
  /** Milliseconds that it lives without a use, from `start` on; absent for ever. */
  readonly timeToIdle?: number
  /** Milliseconds since 1970: when it was written, or used last if it has a time to idle. */
  readonly start?: number
  /** Bytes that it weighs. */
  readonly size?: number
}

/**
 * A cache of this program's own objects, in memory, within bounds. Only loads are asynchronous.
 *
 * Keys are compared as a `Map` compares them, and may be anything except undefined. A miss is `undefined`, which
 * therefore cannot be stored; `null` can. Iterations go by the time at which a key came in; an entry that is set again
 * keeps its place. They may go on while the cache changes: what is deleted meanwhile is left out, what is added comes
 * last. With the policy `lru` they go from the entry that was used last to the one that was used longest ago, as it was
 * when they began.
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
   * The values of the keys that have one, by key, in the order of the keys.
   * @throws InvalidArgument for what is not a list: text is one key
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
    // Checked again with every pair, but also when there is none.
    if (options !== undefined) {
      checkSet(options)
      checkTimes(options)
    }
    for (const pair of listOf(entries, 'entries')) {
      const [key, value, own = options] = pairOf(pair)
      this.set(key, value, own)
    }
  }

  /**
   * Deletes several keys; returns how many had an entry.
   * @throws InvalidArgument for what is not a list: text is one key
   */
  deleteMany(keys: Iterable<K>): number {
    let deleted = 0
    for (const key of listOf(keys, 'keys')) if (this.delete(key)) deleted++
    return deleted
  }

  /**
   * Adds to the key's number, which is 0 if it has none, and returns the sum. The entry keeps its time to live; its
   * time to idle begins again.
   * @throws WrongType if the value is not a finite number; InvalidArgument if `by` or the sum is not
   */
  increment(key: K, by: number = 1): number {
    if (!Number.isFinite(by)) throw new InvalidArgument(`by is ${String(by)}: write a number`)
    const { ttl, idle, slots } = this.core
    const value: unknown = this.peek(key)
    // An expired number may still be served, but not added to.
    if (value === undefined || (this.core.behaviour.allowStale && !this.has(key))) {
      this.put(key, by as V, { ttl, idle })
      return by
    }
    if (!Number.isFinite(value))
      throw new WrongType('$', 'only a finite number can be counted up and down')
    const sum = (value as number) + by
    if (!Number.isFinite(sum)) throw new InvalidArgument(`the sum is ${sum}: nothing is added`)
    this.put(key, sum as V, slots.timesOf(this.slotOf(key) as number))
    return sum
  }

  /** Subtracts: see `increment`. */
  decrement(key: K, by: number = 1): number {
    if (typeof by !== 'number') throw new InvalidArgument(`by is ${String(by)}: write a number`)
    return this.increment(key, 0 - by)
  }

  /**
   * The key's value; when there is none, the loader's, which is stored. Of all callers one loads and the others wait
   * for it, for `waitTimeout` at most; beside a load that is older than `leaseTimeout` one caller loads again. When a
   * loader fails, the callers that waited for it get its error; when it is aborted, one of them loads. A set, delete or
   * clear of the key during the load wins: the value is returned and not stored. A value that cannot be stored is
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
    checkLoader(loader)
    const found = this.look(key, !forceRefresh)
    const stale = found?.value
    if (found?.isFresh && !forceRefresh) {
      if (status !== undefined) status.fetch = 'hit'
      return found.value as V
    }
    if (status !== undefined) status.fetch = forceRefresh ? 'refresh' : 'miss'
    const loading = fly({
      namespace: this.#loading(writing),
      key,
      ttl: 0,
      loader: () => loader({ key, stale, signal, context, options: writing }),
      signal: policy.ignoreFetchAbort ? undefined : signal,
      joined: () => {
        if (status !== undefined) status.fetch = 'inflight'
      },
    }).catch((error: unknown) => {
      // A caller that aborts has not heard of a failure.
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
   * Like `getOrSet`, for a loader that returns its value at once. An asynchronous load of the key could not go on
   * meanwhile, so this caller loads beside it.
   * @throws what `getOrSet` does; InvalidArgument for a loader that returns a promise
   */
  getOrSetSync(key: K, loader: MemorySyncLoader<K, V>, options?: MemorySyncLoadOptions<V>): V {
    const writing = syncLoadOf(options)
    const { forceRefresh = false, context, status } = options ?? {}
    checkLoader(loader)
    const found = this.look(key, !forceRefresh)
    const isHit = found?.isFresh && !forceRefresh
    if (status !== undefined) status.fetch = isHit ? 'hit' : forceRefresh ? 'refresh' : 'miss'
    if (isHit) return found.value as V
    const stale = found?.value
    const load = () => loader({ key, stale, signal: undefined, context, options: writing })
    const namespace = this.#loading(writing)
    try {
      return flySync({ namespace, key, loader: load, ttl: 0, sleep: undefined })
    } catch (error) {
      const { allowStaleOnFetchRejection, noDeleteOnFetchRejection } = this.core.behaviour
      if (!allowStaleOnFetchRejection && !noDeleteOnFetchRejection) this.#dropStale(key)
      if (!allowStaleOnFetchRejection || stale === undefined) throw error
      if (status !== undefined) Object.assign(status, { returnedStale: true, fetchError: error })
      return stale
    }
  }

  /**
   * The values of the keys, by key, in the order of the keys. Missing ones come from the loader, and are stored. The
   * rules of `getOrSet` hold for each key. The loader is called with a list of the keys that this caller is to load,
   * none of them twice; usually it is called once. Then the caller waits for keys that others load; if some of these
   * fall to it, the loader is called again. A key that the loader leaves out, or gives undefined for, has no entry and
   * is not among the values. Expired values are always loaded again.
   * @throws what `getOrSet` does; InvalidArgument for what is not a list of keys, and for a loader that returns a key
   *   that it was not asked for: then nothing is stored
   */
  async getOrSetMany(
    keys: Iterable<K>,
    loader: ManyLoader<K, V>,
    options?: MemoryLoadManyOptions,
  ): Promise<Map<K, V>> {
    const request = this.#manyOf(keys, loader, loadManyOf(options))
    const { signal } = options ?? {}
    return inOrder(request, await flyMany<V, K>({ ...request, signal }))
  }

  /**
   * Like `getOrSetMany`, for a loader that returns its values at once: see `getOrSetSync`.
   * @throws what `getOrSetMany` does; InvalidArgument for a loader that returns a promise
   */
  getOrSetManySync(
    keys: Iterable<K>,
    loader: SyncManyLoader<K, V>,
    options?: MemorySyncLoadManyOptions,
  ): Map<K, V> {
    const request = this.#manyOf(keys, loader, loadManyOf(options, true))
    return inOrder(request, flyManySync<V, K>(request))
  }

  /**
   * A function with cached results, by the rules of `getOrSet`: under `name` and the arguments as text, or under the
   * key that `key` makes of them.
   * @throws InvalidArgument without `name` and `key`, and with both. The memoized one throws it for
   *   arguments that cannot be written as text
   */
  memoize<A extends unknown[], R extends V>(
    work: (...args: A) => R | PromiseLike<R>,
    options: MemoizeOptions<A, K>,
  ): Memoized<A, Promise<R>, boolean> {
    const { keyOf, load } = memoized(work, options)
    const memo = async (...args: A): Promise<R> =>
      (await this.getOrSet(keyOf(args), () => work(...args), load)) as R
    return Object.assign(memo, { forget: (...args: A): boolean => this.delete(keyOf(args)) })
  }

  /**
   * Like `memoize`, for a function that returns at once.
   * @throws what `memoize` does; the memoized function throws InvalidArgument for one that returns a promise
   */
  memoizeSync<A extends unknown[], R extends V>(
    work: (...args: A) => R,
    options: MemoizeOptions<A, K>,
  ): Memoized<A, R, boolean> {
    const { keyOf, load } = memoized(work, options)
    const memo = (...args: A): R => this.getOrSetSync(keyOf(args), () => work(...args), load) as R
    return Object.assign(memo, { forget: (...args: A): boolean => this.delete(keyOf(args)) })
  }

  /** Removes the entry that would be evicted next, and returns its value; undefined when there is none. */
  pop(): V | undefined {
    const { core } = this
    const { slots } = core
    let popped: { kept: V; plan: Plan } | undefined
    core.popping = (slot) => {
      const isTimed = (slots.state[slot] & TIMED) !== 0
      const isStale = isTimed && !slots.isServed(slot, core.clock.now())
      // Copied at the end, because a copy may run the user's code.
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

  /** The first value, in iteration order, for which a function returns something true: by `get`, so it is a use. */
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

  /** The entries with their facts, for `load`: the next to be evicted come first. */
  dump(): [K, DumpedEntry<V>][] {
    const { slots, store } = this.core
    const dumped = this.living((slot): [K, DumpedEntry<V>] => {
      const state = slots.state[slot]
      const isTimed = (state & TIMED) !== 0
      const isIdle = (state & IDLE) !== 0
      const start = slots.expires[slot] - slots.ttl[slot]
      const ttl = isIdle ? slots.deadline[slot] - start : slots.ttl[slot]
      return [
        slots.keys[slot],
        {
          value: this.give(slot),
          ...(isTimed && { start }),
          ...(isTimed && ttl !== Number.POSITIVE_INFINITY && { ttl }),
          ...(isIdle && { timeToIdle: slots.idle[slot] }),
          ...(store.weight > 0 && { size: slots.weights[slot] }),
        },
      ]
    }, this.isByUse)
    return [...dumped]
  }

  /**
   * Replaces everything with what `dump` gave. Entries that expired meanwhile are left out.
   * @throws what `set` throws; the entries before it are stored
   */
  load(dumped: Iterable<readonly [K, DumpedEntry<V>]>): void {
    this.clear()
    const { core } = this
    const now = core.clock.exactly()
    for (const [key, { value, ttl = 0, timeToIdle: idle = 0, start = now, size }] of dumped) {
      const expires = ttl > 0 ? start + ttl : undefined
      if (expires !== undefined && expires <= now) continue
      if (idle > 0 && start + idle <= now) continue
      this.put(key, value, { ttl, idle, expires, size })
      if (idle > 0) core.used(this.slotOf(key) as number, start)
    }
  }

  /** Frees expired entries at once; returns how many. They are freed anyway within seconds. */
  purgeExpired(): number {
    const before = this.core.freed
    this.core.sweeper.sweep()
    return this.core.freed - before
  }

  /** Sizes and counts. */
  stats(): MemoryStats {
    const { counts, store } = this.core
    return { ...counts, entries: store.live, bytes: store.weight }
  }

  /** Sets the counts to 0. */
  flushStats(): void {
    const { counts } = this.core
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] = 0
  }

  #pair(slot: number): [K, V] {
    return [this.core.slots.keys[slot], this.give(slot)]
  }

  /** After a loader has failed: otherwise the expired value would be served for ever. */
  #dropStale(key: K): void {
    const slot = this.slotOf(key)
    if (slot === undefined || !this.entry(key)?.stale) return
    this.core.expire(slot, true)
    this.told().flush()
  }

  /** What loads do with the entries. */
  #loading(writing: Writing): MemoryLoading<K, V> {
    return new MemoryLoading<K, V>(this.core, this.told(), {
      find: (key) => {
        const found = this.look(key, true)
        return found?.isFresh ? found.value : undefined
      },
      store: (key, value, _ttl, stands) => {
        if (stands) this.set(key, value as V, writing)
        else this.core.counts.invalidatedLoads++
      },
    })
  }

  /** A load of several keys. */
  #manyOf<L>(keys: Iterable<K>, loader: L, writing: Writing): ManyRequest<K, L> {
    const listed = [...listOf(keys, 'keys')]
    checkLoader(loader)
    return { namespace: this.#loading(writing), keys: listed, loader, ttl: () => 0 }
  }
}
