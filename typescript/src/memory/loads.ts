import {
  type Brought,
  HIT,
  LOAD,
  type Loading,
  type SyncLoad,
  TIMED_OUT,
  type Waiting,
} from '../flight.ts'
import { patience } from '../wait.ts'
import type { MemoryCore } from './core.ts'
import type { Listeners } from './events.ts'

/** A lease: its holder may load its key while it is in the list of loads. */
export interface Lease {
  /** Milliseconds on the monotonic clock. */
  readonly since: number
}

/** What a load needs of the entries whose key it loads. */
export interface LoadedInto<K> {
  /** Milliseconds. */
  readonly bounds: { readonly leaseTimeout: number; readonly waitTimeout: number }
  readonly counts: { hits: number; misses: number }
  /** The value, if there is one; counts a hit. */
  find(key: K): unknown
  /**
   * Stores a value, if the lease is valid; otherwise a write came in between.
   * @throws what `set` does
   */
  store(key: K, value: unknown, ttl: number, stands: boolean): void
  /** Whether a reader of the last value gets something other than what was loaded. */
  converted?(): boolean
  /**
   * Makes values for callers that joined.
   * @throws UnsupportedValue
   */
  copyOf(value: unknown): () => unknown
}

/** The load of a key where there is no directory: the list of loads under way, which writes invalidate, is the lease. */
export class LocalLoad<K> implements SyncLoad {
  value: unknown
  readonly #loads: Map<K, Lease>
  readonly #key: K
  readonly #into: LoadedInto<K>
  #lease: Lease | undefined
  #waited = false
  /** It loads beside the holder of the lease, which keeps it. */
  #beside = false

  constructor(loads: Map<K, Lease>, key: K, into: LoadedInto<K>) {
    this.#loads = loads
    this.#key = key
    this.#into = into
  }

  isOpen(): boolean {
    return this.#lease === undefined || this.#loads.get(this.#key) === this.#lease
  }

  step(waited: number, beside = false): number {
    const { bounds, counts } = this.#into
    // At first, its caller has just looked, and may want another value.
    if (this.#waited) this.value = this.#into.find(this.#key)
    if (this.value !== undefined) return HIT
    this.#waited = true
    const now = performance.now()
    const other = this.#loads.get(this.#key)
    if (other !== undefined && !beside && now - other.since < bounds.leaseTimeout) {
      return waited >= bounds.waitTimeout ? TIMED_OUT : patience(waited)
    }
    this.#beside = other !== undefined
    this.#lease = other ?? { since: now }
    this.#loads.set(this.#key, this.#lease)
    counts.misses++
    return LOAD
  }

  fill(value: unknown, ttl: number, shared: boolean): Brought {
    const into = this.#into
    const stands = this.#stands()
    let failure: unknown
    try {
      into.store(this.#key, value, ttl, stands)
    } catch (error) {
      failure = error
    }
    // Whatever came of it: of callers that load beside each other the first stores.
    if (this.#stands()) this.#loads.delete(this.#key)
    this.#lease = undefined
    const converted = into.converted?.()
    const copy = shared || converted ? this.#copyOf(value) : undefined
    const own = converted && copy !== undefined ? copy : () => value
    return {
      own,
      copy: shared ? copy : undefined,
      stored: stands && failure === undefined,
      failure,
    }
  }

  abandon(): void {
    if (!this.#beside && this.#stands()) this.#loads.delete(this.#key)
    this.#lease = undefined
  }

  #copyOf(value: unknown): () => unknown {
    try {
      return this.#into.copyOf(value)
    } catch {
      // A value that cannot be stored has no copies.
      return () => value
    }
  }

  #stands(): boolean {
    return this.#lease !== undefined && this.#loads.get(this.#key) === this.#lease
  }
}

/** One call of `getOrSet` on a `MemoryCache`, as flights know it. */
export class MemoryLoading<K, V> implements Loading<K> {
  readonly handle: Waiting
  readonly #into: LoadedInto<K>
  readonly #listeners: Listeners

  /** The loads under way by key are kept with the listeners: writes invalidate them. */
  constructor(
    core: MemoryCore<K, V>,
    listeners: Listeners,
    entry: Pick<LoadedInto<K>, 'find' | 'store'>,
  ) {
    const { behaviour, counts, reported, watch } = core
    const { leaseTimeout, waitTimeout, storeErrors } = behaviour
    this.handle = {
      loads: listeners,
      leaseTimeout,
      waitTimeout,
      storeErrors,
      counts,
      reported,
      watch,
    }
    this.#listeners = listeners
    this.#into = {
      ...entry,
      bounds: behaviour,
      counts,
      converted: () => core.keeper.converted,
      copyOf: (value) => core.copyOf(value),
    }
  }

  find(key: K): unknown {
    return this.#into.find(key)
  }

  load(key: K): LocalLoad<K> {
    const listeners = this.#listeners
    listeners.loads ??= new Map()
    return new LocalLoad(listeners.loads as Map<K, Lease>, key, this.#into)
  }

  identity(key: K): K {
    return key
  }
}
