import type { Loading } from '../flight.ts'
import type { Lease } from '../keyspace.ts'
import type { Listeners } from './events.ts'
import { copyOut, type Plan } from './plan.ts'

/** A lease: whoever holds it may load the key while it is the one that stands beside it. */
interface Load<K> {
  readonly key: K
  /** Milliseconds on the monotonic clock. */
  readonly since: number
}

/** What was loaded, as the cache keeps it. */
interface Payload {
  readonly kept: unknown
  readonly plan: Plan
}

/** What one load does with the cache that it is for. */
export interface LoadedInto<V> {
  /** The loads under way by key stand there: writes void them. */
  readonly listeners: Listeners
  readonly leaseTimeout: number
  readonly counts: { hits: number; misses: number }
  /** The value, if it has not expired; counts a hit. Undefined for a caller that wants a new one. */
  fresh(): V | undefined
  keep(value: V): Payload
  store(value: V): void
}

/** One call of `getOrSet` on a `MemoryCache`, as flights know it. */
export class MemoryLoading<K, V> implements Loading<K> {
  readonly handle: { readonly leaseTimeout: number; readonly loads: object }
  readonly #into: LoadedInto<V>

  constructor(into: LoadedInto<V>) {
    this.#into = into
    this.handle = { leaseTimeout: into.leaseTimeout, loads: into.listeners }
  }

  peek(): V | undefined {
    return this.#into.fresh()
  }

  lease(key: K): Lease {
    const { counts, leaseTimeout } = this.#into
    const loads = this.#loads
    const now = performance.now()
    const other = loads.get(key) as Load<K> | undefined
    if (other !== undefined && now - other.since < leaseTimeout) return { state: 'busy' }
    const token: Load<K> = { key, since: now }
    loads.set(key, token)
    counts.misses++
    return { state: 'acquired', token }
  }

  fill(_key: K, token: Load<K>, value: unknown, _ttl: number, copy: boolean): Payload | undefined {
    try {
      const payload = copy ? this.#into.keep(value as V) : undefined
      if (this.stands(token)) this.#into.store(value as V)
      return payload
    } finally {
      this.release(token)
    }
  }

  release(token: Load<K>): void {
    if (this.stands(token)) this.#loads.delete(token.key)
  }

  stands(token: Load<K>): boolean {
    return this.#loads.get(token.key) === token
  }

  read(payload: Payload): unknown {
    this.#into.counts.hits++
    return copyOut(payload.kept, payload.plan)
  }

  identity(key: K): K {
    return key
  }

  get #loads(): Map<unknown, object> {
    this.#into.listeners.loads ??= new Map()
    return this.#into.listeners.loads
  }
}
