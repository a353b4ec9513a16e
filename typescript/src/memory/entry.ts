/** An entry as `MemoryCache.entry` tells of it. */
export interface MemoryEntry<V> {
  readonly value: V
  /** Milliseconds since 1970 at which it expires; `Infinity` when it does not. */
  readonly expires: number
  /** Whether it has expired. Such an entry is told of until it is freed, and by `entry` only. */
  readonly stale: boolean
  /** Bytes that it weighs with its key; 0 when nothing is weighed. */
  readonly size: number
}

/** A write whose place in time is known already. */
export interface Timed {
  /** Milliseconds; 0 is for ever. */
  readonly ttl: number
  readonly sliding: boolean
  /** For an entry that keeps its expiry. */
  readonly expires?: number | undefined
  readonly size?: number | undefined
}
