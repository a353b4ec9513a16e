import type { Policy } from './policy.ts'
import { Queue } from './queue.ts'
import type { Slots } from './slots.ts'

/** Nothing makes room for anything: whoever writes looks first whether there is some. */
export class Unevicted implements Policy {
  readonly initial: number = 0
  /** In the order in which they came. */
  readonly #entries: Queue
  readonly #leave: (slot: number) => void

  constructor(slots: Slots<unknown, unknown>, leave: (slot: number) => void) {
    this.#entries = new Queue(slots)
    this.#leave = leave
  }

  arrive(): void {}

  /** For who takes an entry out by himself. */
  evict(): void {
    const slot = this.#entries.front
    this.#entries.remove(slot)
    this.#leave(slot)
  }

  add(slot: number): void {
    this.#entries.push(slot)
  }

  hit(): void {}

  remove(slot: number): void {
    this.#entries.remove(slot)
  }

  clear(): void {
    this.#entries.clear()
  }
}
