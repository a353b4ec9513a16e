/** Timers and clocks that a test moves; the same for Node and Bun. */
import { onTestFinished } from 'vitest'
import { machine } from '../../src/memory/clock.ts'

interface Timer {
  readonly due: number
  readonly run: () => void
  /** Whether it holds the process. */
  held: boolean
}

/** Takes the place of `setTimeout`, `clearTimeout`, `Date.now` and `performance.now` until the test is over. */
export class Timers {
  #time = 0
  readonly #began = 1_700_000_000_000
  readonly #waiting = new Set<Timer>()

  constructor() {
    const { setTimeout: set, clearTimeout: clear } = globalThis
    const { now: date } = Date
    const real = machine.now
    const own = Object.getOwnPropertyDescriptor(performance, 'now')
    onTestFinished(() => {
      Object.assign(globalThis, { setTimeout: set, clearTimeout: clear })
      Date.now = date
      machine.now = real
      if (own === undefined) Reflect.deleteProperty(performance, 'now')
      else Object.defineProperty(performance, 'now', own)
    })
    Object.assign(globalThis, {
      setTimeout: (run: () => void, ms = 0) => this.#set(run, ms),
      clearTimeout: (timer: Timer) => this.#waiting.delete(timer),
    })
    Date.now = () => this.#began + this.#time
    // It is the machine's in these tests: what is fake is asked each time.
    machine.now = Date.now
    Object.defineProperty(performance, 'now', {
      value: () => this.#time,
      configurable: true,
      writable: true,
    })
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Timers that hold the process. */
  get holding(): number {
    return [...this.#waiting].filter((timer) => timer.held).length
  }

  /** Moves the time as the machine does while a program computes: no timer runs. */
  compute(ms: number): void {
    this.#time += ms
  }

  /** Moves the time and runs what is due, in its order. */
  advance(ms: number): void {
    const until = this.#time + ms
    for (;;) {
      const [next] = [...this.#waiting].sort((one, other) => one.due - other.due)
      if (next === undefined || next.due > until) break
      this.#waiting.delete(next)
      this.#time = Math.max(this.#time, next.due)
      next.run()
    }
    this.#time = until
  }

  #set(run: () => void, ms: number): Timer & { unref(): void } {
    if (!(ms <= 2 ** 31 - 1)) throw new Error(`a timer of ${ms} ms runs at once`)
    const timer = {
      due: this.#time + Math.max(ms, 1),
      run,
      held: true,
      unref() {
        timer.held = false
      },
    }
    this.#waiting.add(timer)
    return timer
  }
}
