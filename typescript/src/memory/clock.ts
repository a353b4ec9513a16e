/** Reads that one look at the system's clock answers at most. */
const MOST = 64
/** Milliseconds after which it is looked at again in any case. */
const STALE = 1

/** Changes that tests may have made before this module was loaded, or in Bun without changing `Date`. */
function isMovedByTests(): boolean {
  const { Bun, process } = globalThis as {
    Bun?: unknown
    process?: { env?: { NODE_ENV?: string } }
  }
  if (Bun !== undefined && process?.env?.NODE_ENV === 'test') return true
  return !Function.prototype.toString.call(Date.now).includes('[native code]')
}

/** The machine's clock. Any other `Date.now` is a test's, which moves as the test says. */
export const machine: { now: () => number } = { now: isMovedByTests() ? () => 0 : Date.now }

/**
 * Milliseconds since 1970, at the price of a memory read: the system's clock, which takes longer than a look-up, is
 * read again after a millisecond and after a few dozen reads, fewer while reads are rare. So a read may see an entry up
 * to a millisecond after its expiry. (Timers do not run while a program computes: if it computes for long between two
 * reads of a fast succession, the second may see the time of the first.) A clock of users is read every time, and so is
 * a fake one that a test has put in the place of `Date`, before or after this was made.
 */
export class CoarseClock {
  readonly #own: (() => number) | undefined
  #time = 0
  /** Reads that the last look still answers, and how many it did at first. */
  #left = 0
  #answers = 0
  #timed = false

  constructor(own: (() => number) | undefined) {
    this.#own = own
  }

  now(): number {
    // Compilers assume the comparison until `Date` is changed.
    return Date.now === machine.now && this.#left-- > 0 ? this.#time : this.exactly()
  }

  /** The time by the clock itself: for the beginning of a span of time. */
  exactly(): number {
    this.#left = 0
    if (this.#own !== undefined) return this.#own()
    const now = Date.now()
    if (Date.now === machine.now) this.#adapt(now)
    this.#time = now
    return now
  }

  /** As many reads as before took no millisecond together, so twice as many will hardly take two. */
  #adapt(now: number): void {
    const quick = now - this.#time < STALE && now >= this.#time
    this.#answers = quick ? Math.min(2 * this.#answers + 1, MOST) : 0
    this.#left = this.#answers
    if (this.#answers > 0 && !this.#timed) this.#expire()
  }

  #expire(): void {
    this.#timed = true
    new Timer(() => {
      this.#timed = false
      this.#left = 0
    }, STALE)
  }
}

/** A timer that does not keep the process alive. */
export class Timer {
  // Its own: a test may put fake timers in their place, and take them away again.
  readonly #set = setTimeout
  readonly #clear = clearTimeout
  readonly #timer: ReturnType<typeof setTimeout>

  constructor(run: () => void, ms: number) {
    this.#timer = setTimeout(run, ms)
    // A number in browsers.
    if (typeof this.#timer === 'object') this.#timer.unref()
  }

  /** Whether it uses the present timers. */
  get isCurrent(): boolean {
    return this.#set === setTimeout
  }

  clear(): void {
    // Browsers refuse it as a method of anything.
    const clear = this.#clear
    clear(this.#timer)
  }
}
