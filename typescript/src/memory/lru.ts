import type { Policy } from './policy.ts'
import { Queue } from './queue.ts'
import { ORDERED, type Slots } from './slots.ts'

/** Evicts what was used longest ago. Remembers nothing of what is gone. */
export class Lru implements Policy {
  readonly initial: number = ORDERED
  /** Least recently used first. */
  readonly #used: Queue

  constructor(slots: Slots<unknown, unknown>) {
    this.#used = new Queue(slots)
  }

  add(slot: number): void {
    this.#used.push(slot)
  }

  recall(): void {}

  readmit(slot: number): void {
    this.#used.push(slot)
  }

  hit(slot: number): void {
    this.#used.requeue(slot)
  }

  remove(slot: number): void {
    this.#used.remove(slot)
  }

  evict(): number {
    const slot = this.#used.front
    this.#used.remove(slot)
    return slot
  }

  forget(): number {
    return -1
  }

  clear(): void {
    this.#used.clear()
  }
}
