import type { Lock } from '../lease.ts'
import { patience } from '../wait.ts'
import type { MemoryHandle } from './handle.ts'

/** The lock of a name within this program. */
export class LocalLock implements Lock {
  readonly #handle: MemoryHandle
  readonly #name: string

  constructor(handle: MemoryHandle, name: string) {
    this.#handle = handle
    this.#name = name
  }

  step(waited: number, wait: number): number | boolean {
    if (!this.isLocked()) {
      this.#handle.locks.set(this.#name, this)
      return true
    }
    return waited < wait && Math.min(patience(waited), wait - waited)
  }

  release(): void {
    if (this.#handle.locks.get(this.#name) === this) this.#handle.locks.delete(this.#name)
  }

  isLocked(): boolean {
    this.#handle.check()
    return this.#handle.locks.has(this.#name)
  }
}
