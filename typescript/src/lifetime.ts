import { type Duration, milliseconds } from './duration.ts'
import { InvalidArgument } from './errors.ts'

/**
 * The time to live of writes that give none: the cache's `ttl`, shortened by its `jitter`, at random for each write.
 *
 * Entries that are written together (a deployment, an import, a page with fifty parts) would expire together and be
 * loaded again at the same moment. The jitter only shortens, so no entry is older than `ttl` says.
 */
export class Lifetime {
  /** Milliseconds; 0 is for ever. */
  readonly #longest: number
  /** Milliseconds by which it may be shorter, a whole number. */
  readonly #spread: number
  readonly #random: () => number

  /** `random` gives numbers from 0 on, below 1. */
  constructor(longest: number, spread = 0, random: () => number = Math.random) {
    this.#longest = longest
    this.#spread = spread
    this.#random = random
  }

  /**
   * `ttl` is in milliseconds, 0 for ever.
   * @throws InvalidArgument for a jitter without a time to live, or one out of range
   */
  static of(ttl: number, jitter: number | Duration | undefined): Lifetime {
    if (jitter === undefined) return new Lifetime(ttl)
    if (ttl === 0) throw new InvalidArgument('a jitter needs a ttl, which it shortens')
    if (typeof jitter !== 'number') {
      const ms = milliseconds(jitter, 'jitter')
      if (ms < ttl) return new Lifetime(ttl, ms)
      throw new InvalidArgument(`the jitter, ${ms} ms, is not below the ttl, ${ttl} ms`)
    }
    if (jitter >= 0 && jitter < 1) return new Lifetime(ttl, Math.floor(ttl * jitter))
    throw new InvalidArgument(
      `jitter is ${jitter}: write a part of the ttl, from 0 to below 1, or a duration below it`,
    )
  }

  /** Milliseconds that the next write's entry lives; 0 is for ever. */
  next(): number {
    if (this.#spread === 0) return this.#longest
    return this.#longest - Math.floor(this.#random() * (this.#spread + 1))
  }
}
