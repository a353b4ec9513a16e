import { type Duration, milliseconds } from './duration.ts'
import { InvalidArgument } from './errors.ts'
import { orAbort, pause } from './wait.ts'

/** The lock of a key's name, as the tiers know it. */
export interface Lock {
  /** Asks for it: true when the caller has it, false when it waits no longer, else how many milliseconds to wait. */
  step(waited: number, wait: number): number | boolean | Promise<number | boolean>
  /** Gives it back; does nothing if another has it. */
  release(): void | Promise<void>
  /** Whether it is held. */
  isLocked(): boolean | Promise<boolean>
  /**
   * Where a server is asked.
   * @throws InvalidArgument
   */
  refuse?(method: string): never
}

/**
 * A lock by the name of a key, for adapters: one holder on this machine, in any process and language, or in this
 * program if the cache has no directory. It has nothing to do with the key's entry, nor with loads of it. A holder
 * keeps it until it releases it or dies. If more than some thousand are held at a time it may be lost: what it guards
 * must stay right without it.
 *
 * ```ts
 * const lease = cache.lease('report')
 * if (await lease.acquire()) {
 *   try {
 *     await writeReport()
 *   } finally {
 *     await lease.release()
 *   }
 * }
 * ```
 *
 * With `await using lease = cache.lease('report')` it is released at the end of the block.
 */
export class Lease {
  readonly #lock: Lock
  readonly #waitTimeout: number

  /** @internal */
  constructor(lock: Lock, waitTimeout: number) {
    this.#lock = lock
    this.#waitTimeout = waitTimeout
  }

  /**
   * Whether the caller has the lock now. It waits while another has it: for `waitTimeout` of the cache at most, or
   * another duration; with false it does not wait. It is not reentrant: a holder that asks again waits.
   * @throws InvalidArgument, InvalidKey, Closed; the signal's reason
   */
  async acquire(
    wait: boolean | Duration = true,
    options?: { readonly signal?: AbortSignal },
  ): Promise<boolean> {
    const longest =
      typeof wait === 'boolean' ? (wait ? this.#waitTimeout : 0) : milliseconds(wait, 'wait')
    const signal = options?.signal
    if (signal !== undefined && !(signal instanceof AbortSignal)) {
      throw new InvalidArgument('signal is an AbortSignal')
    }
    signal?.throwIfAborted()
    const began = performance.now()
    for (;;) {
      const step = this.#lock.step(performance.now() - began, longest)
      const next = step instanceof Promise ? await this.#asked(step, signal) : step
      if (typeof next === 'boolean') return next
      await pause(next, signal)
    }
  }

  /** An answer; when the signal comes first, what that may still bring is given back. */
  async #asked<T>(step: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    try {
      return await orAbort(step, signal)
    } catch (error) {
      if (signal?.aborted) this.#letGo()
      throw error
    }
  }

  /** Gives it back without waiting. */
  #letGo(): void {
    Promise.resolve(this.#lock.release()).catch(() => {})
  }

  /** Whether the caller has the lock now; it does not wait. */
  acquireSync(): boolean {
    this.#lock.refuse?.('acquire')
    return this.#lock.step(0, 0) === true
  }

  /** Gives the lock back. Does nothing when this object does not have it. */
  async release(): Promise<void> {
    await this.#lock.release()
  }

  /** Like `release`. */
  releaseSync(): void {
    this.#lock.refuse?.('release')
    this.#lock.release()
  }

  /** Whether the lock is held. */
  async locked(): Promise<boolean> {
    return this.#lock.isLocked()
  }

  /** Like `locked`. */
  lockedSync(): boolean {
    this.#lock.refuse?.('locked')
    return this.#lock.isLocked() as boolean
  }

  /** Releases it, at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.#letGo()
  }

  /** Releases it, at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lock.release()
  }
}
