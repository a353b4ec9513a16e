import type { Key } from '../key.ts'
import type { Lock } from '../lease.ts'
import type { LoadedInto } from './load.ts'
import { guarded, LOAD_NOW, type Token, WAITED_IN_VAIN, WAITS } from './native.ts'

/** The lock of a key's name in a directory: `Acquire` of `crates/operations`. */
export class HostLock implements Lock {
  readonly #into: LoadedInto
  readonly #key: Key
  #token: Token | undefined

  constructor(into: LoadedInto, key: Key) {
    this.#into = into
    this.#key = key
  }

  step(waited: number, wait: number): number | boolean {
    const { calls, number } = this.#into
    const { bytes, from, to } = this.#into.begin(this.#key)
    // Not into the token of a lock that this one has already.
    const token = new BigUint64Array(3)
    const answer = guarded(() => calls.lockStep(number, bytes, from, to, token, waited, wait))
    if (answer === WAITED_IN_VAIN) return false
    if (answer !== LOAD_NOW) return Math.max((WAITS - answer) / 1000, 0.001)
    this.#token = token
    this.#into.locks.add(this)
    return true
  }

  release(): void {
    const token = this.#token
    if (token === undefined) return
    this.#token = undefined
    const { calls, number, locks } = this.#into
    locks.delete(this)
    guarded(() => calls.unlock(number, token))
  }

  isLocked(): boolean {
    const { calls, number } = this.#into
    const { bytes, from, to } = this.#into.begin(this.#key)
    return guarded(() => calls.locked(number, bytes, from, to))
  }
}
