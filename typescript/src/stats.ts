import type { Holdings } from './any-namespace.ts'

/** What a cache holds and why entries left it. The first eight count this handle's own operations. */
export interface Stats extends Holdings {
  /** Reads that found an entry. */
  hits: number
  /** Those of them that the memory tier answered. */
  memoryHits: number
  /** Reads that found none. */
  misses: number
  /** Entries stored. */
  writes: number
  /** Entries deleted. */
  deletes: number
  /** Loads whose entry was refused, because a set or delete came in between. */
  invalidatedLoads: number
  /** Loaded values that could not be stored. */
  unstored: number
  /** Callers that got `WaitTimeout`. */
  waitTimeouts: number
}
