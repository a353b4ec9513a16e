import { InvalidArgument } from '../errors.ts'
import { WAITED_IN_VAIN, WAITS } from '../host/native.ts'
import type { Key } from '../key.ts'
import type { Lock } from '../lease.ts'
import { asked } from './answers.ts'
import type { RemoteNamespace } from './namespace.ts'

/** The lock of a key's name on a server. */
export class RemoteLock implements Lock {
  readonly #namespace: RemoteNamespace
  readonly #key: Key
  /** Of the lock that it has. */
  #words: BigUint64Array | undefined
  /** While it is asked for. */
  #step: Promise<unknown> | undefined

  constructor(namespace: RemoteNamespace, key: Key) {
    this.#namespace = namespace
    this.#key = key
  }

  async step(waited: number, wait: number): Promise<number | boolean> {
    const { calls, handle } = this.#namespace
    const step = this.#ask(asked(calls.lockStep(...this.#namespace.at(this.#key), wait, waited)))
    this.#step = step
    const answer = await step
    if (answer === WAITED_IN_VAIN) return false
    if (typeof answer === 'number') return Math.max((WAITS - answer) / 1000, 0.001)
    // It was closed meanwhile.
    if (handle.closed) await this.release()
    handle.check()
    return true
  }

  async #ask(step: Promise<ArrayBuffer | number>): Promise<ArrayBuffer | number> {
    const answer = await step
    if (typeof answer !== 'number') {
      this.#words = new BigUint64Array(answer)
      this.#namespace.handle.locks.add(this)
    }
    return answer
  }

  async release(): Promise<void> {
    // It may still be asked for, by a caller that waits no longer.
    await this.#step?.catch(() => {})
    const words = this.#words
    if (words === undefined) return
    this.#words = undefined
    const { calls, handle } = this.#namespace
    handle.locks.delete(this)
    await asked(this.#namespace.within(this.#key, (at) => calls.unlock(...at, words)))
  }

  isLocked(): Promise<boolean> {
    return asked(this.#namespace.calls.locked(...this.#namespace.at(this.#key)))
  }

  refuse(method: string): never {
    throw new InvalidArgument(
      `the lease of a cache with \`remote\` answers asynchronously: use ${method}, not ${method}Sync`,
    )
  }
}
