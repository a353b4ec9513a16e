/** An entry as `MemoryCache.entry` gives it. */
export interface MemoryEntry<K, V> {
  /** The key that was asked for. */
  readonly key: K
  /** The value, as `peek` gives it. */
  readonly value: V
  /** Milliseconds that it has left, as `ttl` gives them; `Infinity` when it does not expire, 0 when it has expired. */
  readonly ttl: number
  /** Bytes that it weighs with its key; 0 when nothing is weighed. */
  readonly bytes: number
  /** Milliseconds since 1970 at which it expires; `Infinity` when it does not. */
  readonly expires: number
  /** Whether it has expired. Only `entry` gives such an entry, until it is freed. */
  readonly stale: boolean
}

/** A write with known times. */
export interface Timed {
  /** Milliseconds to live; 0 is for ever. */
  readonly ttl: number
  /** Milliseconds to live without a use; 0 is for ever. */
  readonly idle: number
  /** For an entry that keeps its time to live: the end of it, in milliseconds since 1970, or infinite. */
  readonly expires?: number | undefined
  readonly size?: number | undefined
  /** Asked with the weight right before the value is stored, when no code of users runs any more: if false, nothing is. */
  readonly stands?: ((weight: number) => boolean) | undefined
}
