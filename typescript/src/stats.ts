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
  /** Loads whose value was not stored, because a set, delete, clear, eviction or other load came between. */
  invalidatedLoads: number
  /** Loaded values that could not be stored. */
  unstored: number
  /** Callers that got `WaitTimeout`. */
  waitTimeouts: number
}

/** What was done with a directory, by one process or by all. */
export interface Activity {
  /** Reads that found an entry. */
  hits: number
  /** Those of them that a memory tier answered. */
  memoryHits: number
  /** Reads that found none. */
  misses: number
  /** Entries stored. */
  writes: number
  /** Entries deleted. */
  deletes: number
  /** Loaders that began. */
  loads: number
  /** Loaders that ended without a value to store: they failed, or their callers were cancelled. */
  failedLoads: number
}

/** What a handle did with its remote tier, and how that is. */
export interface RemoteStats {
  /** Reads that a copy on this host answered. */
  nearHits: number
  /** Reads that the server answered. */
  remoteHits: number
  /** Round trips of operations, of one or several commands each; not those of the thread that listens. */
  roundTrips: number
  /** Reads, writes and loads that had no answer from the server. */
  faults: number
  /** What the last of them was about; empty when there was none. */
  lastFault: string
  /** Whether the circuit breaker is open: commands fail at once. */
  isOpen: boolean
  /** Whether copies are served: this host hears of all writes. */
  listens: boolean
  /** How far behind the copies may be now, in milliseconds; undefined while none are served. */
  lag: number | undefined
  /** Whether the server refuses to tell of writes, so that every read goes through to it. */
  refusesTracking: boolean
}

/** What one process has done with a directory since it opened it. */
export interface ProcessStats extends Activity {
  /** Its process id, as it sees that itself: another container may have the same. */
  pid: number
  /** Its open handles that count for themselves. */
  handles: number
  /** When it opened the first of them, in milliseconds since 1970. */
  since: number
}

/** What all processes of the machine, in all languages, did with a directory, and what it holds. */
export interface MachineStats extends Activity {
  /** When the directory was made, in milliseconds since 1970: every count began at 0 then. */
  since: number
  /** Loads whose value was not stored, because a set, delete, clear, eviction or other load came between. */
  invalidatedLoads: number
  /** Loaded values that could not be stored. */
  unstored: number
  /** Callers that got `WaitTimeout`. */
  waitTimeouts: number
  /** Entries in the index, expired and cleared ones included until they are recycled. */
  entries: number
  /** Bytes of disk space taken. */
  bytes: number
  /** Byte limit. */
  limit: number
  /** Entries evicted because their block was the oldest. */
  evictedByAge: number
  /** Entries evicted because the index had no place for a new key. */
  evictedByConflict: number
  /** Old values removed because their replacement could not be stored. */
  evictedByFailedPut: number
  /** Expired entries that were removed. */
  expired: number
  /** The processes that have the directory open, the one with the most reads first. */
  processes: ProcessStats[]
}

/** What the entries of one namespace take; those of namespaces nested in it are not its own. */
export interface Usage {
  /** The namespace's parts; none for the root. */
  namespace: string[]
  /** Entries that a read would find. */
  entries: number
  /** Bytes of their records: key, value and header; of large values whole blocks. */
  bytes: number
}
