/** Reads that one look at the system's clock answers at most. */
const MOST = 64
/** Milliseconds after which it is looked at again in any case. */
const STALE = 1

/**
 * Milliseconds since 1970, at the price of a memory read: the system's clock, which takes longer than a look-up, is asked
 * again after a millisecond and after a few dozen reads, fewer while reads are rare. So a read may see an entry up to a
 * millisecond after its expiry. (Timers don't run while a program computes: what computes for long between two of a
 * quick succession of reads may see the time of the first.) A clock of the user's is asked every time.
 */
export class CoarseClock {
  readonly #now: () => number
  readonly #most: number
  #time = 0
  /** Reads that the last look still answers, and how many it did at first. */
  #left = 0
  #answers = 0
  #timed = false

  constructor(now: (() => number) | undefined) {
    this.#now = now ?? Date.now
    this.#most = now === undefined ? MOST : 0
  }

  now(): number {
    return this.#left-- > 0 ? this.#time : this.exactly()
  }

  /** The time by a look at the clock itself: where a span of time begins. */
  exactly(): number {
    const now = this.#now()
    if (this.#most === 0) this.#left = 0
    else this.#adapt(now)
    this.#time = now
    return now
  }

  /** As many reads as before took no millisecond together, so twice as many will hardly take two. */
  #adapt(now: number): void {
    const quick = now - this.#time < STALE && now >= this.#time
    this.#answers = quick ? Math.min(2 * this.#answers + 1, this.#most) : 0
    this.#left = this.#answers
    if (this.#answers > 0 && !this.#timed) this.#expire()
  }

  #expire(): void {
    this.#timed = true
    unheld(() => {
      this.#timed = false
      this.#left = 0
    }, STALE)
  }
}

/** What `clearTimeout` takes. */
export type Timer = ReturnType<typeof setTimeout>

/** A timer for which no process stays. */
export function unheld(run: () => void, ms: number): Timer {
  const timer = setTimeout(run, ms)
  // A number in browsers.
  if (typeof timer === 'object') timer.unref()
  return timer
}
