/** What a `MemoryCache` holds, and why entries left it. */
export interface MemoryStats {
  /** Reads that found an entry. */
  hits: number
  /** Reads that found none. */
  misses: number
  /** Entries stored. */
  writes: number
  /** Entries deleted or taken. */
  deletes: number
  /** Entries that had expired when they were freed. */
  expired: number
  /** Entries that made room for others. */
  evicted: number
  /** Loads whose value was not stored, because a set, delete, clear or other load came between. */
  invalidatedLoads: number
  /** Loaded values that could not be stored. */
  unstored: number
  /** Callers that got `WaitTimeout`. */
  waitTimeouts: number
  /** Entries that are there; some may have expired. */
  entries: number
  /** Bytes that they weigh, with their keys, by an estimate. 0 when nothing is weighed. */
  bytes: number
}
