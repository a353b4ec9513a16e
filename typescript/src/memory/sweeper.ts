import { Timer } from './clock.ts'

/** Slots that are looked at in one go: some ten microseconds. */
const STRIDE = 4096
/** The longest that timers can wait: a 32-bit number of milliseconds. */
const LONGEST = 2 ** 31 - 1

/** What is searched for expired entries. */
export interface Sweepable {
  now(): number
  /** How many slots there are. */
  slots(): number
  /**
   * Frees expired entries among some slots, by itself or on request. Returns when the first of the others there will
   * expire, or Infinity.
   */
  sweep(from: number, to: number, now: number, asked: boolean): number
}

/**
 * Frees expired entries that are not read: within a second or so, a stride at a time. Its timers keep neither the
 * process nor an unused cache alive.
 */
export class Sweeper {
  readonly #cache: WeakRef<Sweepable>
  /** No entry expires before, in milliseconds since 1970. */
  first: number = Number.POSITIVE_INFINITY
  /** The same, for the part of the slots that a look under way has seen, and for entries that are newer. */
  seen: number = Number.POSITIVE_INFINITY
  #at = 0
  #timer: Timer | undefined
  /** When the timer is due, on the monotonic clock that timers go by. */
  #due = 0

  /** The shortest wait; otherwise a cache in which entries expire all the time would be searched all the time. */
  readonly #shortest: number

  /** With an infinite wait it only searches on request. */
  constructor(cache: Sweepable, shortest = 1000) {
    this.#cache = new WeakRef(cache)
    this.#shortest = shortest
  }

  /** An entry will expire, before all that were seen. */
  expect(expires: number, now: number): void {
    this.seen = expires
    if (expires >= this.first) return
    this.first = expires
    this.#wait(Math.max(expires - now, this.#shortest))
  }

  /** Looks at all slots at once. */
  sweep(): void {
    this.#at = 0
    this.#look(Number.POSITIVE_INFINITY, true)
  }

  clear(): void {
    this.first = this.seen = Number.POSITIVE_INFINITY
    this.#at = 0
  }

  #look(slots: number, asked: boolean): void {
    const cache = this.#cache.deref()
    if (cache === undefined || (this.first === Number.POSITIVE_INFINITY && !asked)) return
    const now = cache.now()
    const from = this.#at
    if (from === 0) this.seen = Number.POSITIVE_INFINITY
    const to = Math.min(from + slots, cache.slots())
    // Listeners may add entries, which set `seen` as well.
    const first = cache.sweep(from, to, now, asked)
    if (first < this.seen) this.seen = first
    if (to < cache.slots()) {
      this.#at = to
      this.#wait(0)
      return
    }
    this.#at = 0
    this.first = this.seen
    if (this.first === Number.POSITIVE_INFINITY) return
    this.#wait(Math.max(this.first - now, this.#shortest))
  }

  #wait(ms: number): void {
    if (this.#shortest === Number.POSITIVE_INFINITY) return
    const due = performance.now() + ms
    const timer = this.#timer
    // A timer that comes soon enough is left alone: one for each entry would cost more than it frees.
    if (timer?.isCurrent && this.#due - due < this.#shortest) return
    timer?.clear()
    this.#due = due
    this.#timer = new Timer(
      () => {
        this.#timer = undefined
        this.#look(STRIDE, false)
      },
      Math.min(ms, LONGEST),
    )
  }
}
