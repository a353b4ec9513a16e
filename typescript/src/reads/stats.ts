/** What cached reads did since they were made. */
export interface ReadStats {
  /** Replies from this process' memory. */
  readonly memoryHits: number
  /** Replies that this host had. */
  readonly hostHits: number
  /** Reads that the client sent. */
  readonly sent: number
  /** Callers that shared a read with another one. */
  readonly joined: number
  /** Reads that were sent and whose replies were not kept, by the reason. */
  readonly uncached: {
    /** Nobody of this host hears of writes just now, or the server does not answer the cache. */
    readonly deaf: number
    /** The listener does not hear of writes of these keys yet. */
    readonly notHeard: number
    /** Another process of this host reads the same, or there is no room. */
    readonly busy: number
    /**
     * The connection leads to another server than the listener's, the reply may expire unnoticed, a write came meanwhile, or
     * the read names more than 1,024 keys.
     */
    readonly refused: number
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] extends number ? number : Writable<T[K]> }

/** By the number that the native part gives. */
export const WHYS = [undefined, 'deaf', 'notHeard', 'busy', 'refused'] as const

export function noReadStats(): Writable<ReadStats> {
  return {
    memoryHits: 0,
    hostHits: 0,
    sent: 0,
    joined: 0,
    uncached: { deaf: 0, notHeard: 0, busy: 0, refused: 0 },
  }
}
