import { type Counts, noCounts } from '../any-namespace.ts'
import type { NativeRemote } from './native.ts'

/** What JavaScript counts of a cache with a server. The native part is told at once, and tells the machine. */
export class RemoteCounts implements Counts {
  readonly #own = noCounts()
  readonly #native: NativeRemote
  writes = 0
  deletes = 0
  invalidatedLoads = 0

  constructor(native: NativeRemote) {
    this.#native = native
  }

  /** Reads that another caller's load answered, less those that the native part has counted twice. */
  get hits(): number {
    return this.#own.hits
  }

  set hits(now: number) {
    if (now > this.#own.hits) this.#native.addCounts(now - this.#own.hits, 0, 0, 0)
    this.#own.hits = now
  }

  /** Reads that another caller's load left without a value. */
  get misses(): number {
    return this.#own.misses
  }

  set misses(now: number) {
    this.#native.addCounts(0, now - this.#own.misses, 0, 0)
    this.#own.misses = now
  }

  get unstored(): number {
    return this.#own.unstored
  }

  set unstored(now: number) {
    this.#native.addCounts(0, 0, now - this.#own.unstored, 0)
    this.#own.unstored = now
  }

  get waitTimeouts(): number {
    return this.#own.waitTimeouts
  }

  set waitTimeouts(now: number) {
    this.#native.addCounts(0, 0, 0, now - this.#own.waitTimeouts)
    this.#own.waitTimeouts = now
  }
}
