import type { Key } from '../key.ts'
import type { Lock } from '../lease.ts'
import type { LoadedInto } from './load.ts'
import { guarded, LOAD_NOW, WAITED_IN_VAIN, WAITS } from './native.ts'

/** The lock of a key's name in a directory: `Acquire` of `crates/operations`. */
export class HostLock implements Lock {
  readonly #into: LoadedInto
  readonly #key: Key
  readonly #token = new BigUint64Array(3)
  #isHeld = false

  constructor(into: LoadedInto, key: Key) {
    this.#into = into
    this.#key = key
  }

  step(waited: number, wait: number): number | boolean {
    const { calls, number } = this.#into
    const { bytes, from, to } = this.#into.begin(this.#key)
    // Not into the token of a lock that is held.
    const token = new BigUint64Array(3)
    const answer = guarded(() => calls.lockStep(number, bytes, from, to, token, waited, wait))
    if (answer === WAITED_IN_VAIN) return false
    if (answer !== LOAD_NOW) return Math.max((WAITS - answer) / 1000, 0.001)
    this.#token.set(token)
    this.#isHeld = true
    return true
  }

  release(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    const { calls, number } = this.#into
    guarded(() => calls.unlock(number, this.#token))
  }

  isLocked(): boolean {
    const { calls, number } = this.#into
    const { bytes, from, to } = this.#into.begin(this.#key)
    return guarded(() => calls.locked(number, bytes, from, to))
  }
}
