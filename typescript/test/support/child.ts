/**
 * Another process with the cache open. It does what each line on its standard input says and answers with a line: the
 * commands are below, `children.ts` is the other end.
 */
import { appendFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Mapping } from '../../src/host/mapping.ts'
import { native } from '../../src/host/native.ts'
import { Cache, Conflict } from '../../src/index.ts'

const [path, countFile] = process.argv.slice(2)
const cache = new Cache({ path })

/** Gets over at once, also while this process is busy. */
function say(answer: unknown): void {
  writeSync(1, `${JSON.stringify(answer)}\n`)
}

/** Looks until a condition holds. Says so when the loop has run long enough to be compiled, and goes on in it. */
function spinUntil(holds: () => boolean): { spins: number; seen: boolean } {
  const limit = Date.now() + 30_000
  let spins = 0
  while (!holds()) {
    spins++
    if (spins === 300_000) say('spinning')
    if (spins % 1_000_000 === 0 && Date.now() > limit) return { spins, seen: false }
  }
  return { spins, seen: true }
}

let finish: ((value: string) => void) | undefined
/** Ends of loads under way. */
const ends: ((value: string) => void)[] = []

const commands: Record<string, (...given: string[]) => unknown> = {
  set: (key, value) => cache.setSync(key, value),
  get: (key) => cache.getSync(key) ?? null,
  delete: (key) => cache.deleteSync(key),
  clear: () => cache.clearSync(),
  /** Takes so many keys, from the last one on, and says what it got. */
  takeAll: (prefix, count) => {
    const taken: unknown[] = []
    for (let key = Number(count) - 1; key >= 0; key--) {
      const value = cache.takeSync(`${prefix}${key}`)
      if (value !== undefined) taken.push(value)
    }
    return taken
  },
  /** Counts so many times, and says the sums. */
  count: (key, times) => Array.from({ length: Number(times) }, () => cache.incrementSync(key)),
  /** Appends so many names to a list, which others do too. */
  append: (key, times) => {
    for (let turn = 0; turn < Number(times); turn++) {
      const name = `${process.pid} ${turn}`
      for (let stored = false; !stored; ) {
        try {
          cache.updateSync(key, (list: string[] = []) => [...list, name])
          stored = true
        } catch (error) {
          if (!(error instanceof Conflict)) throw error
        }
      }
    }
  },
  /** Spins until the key has a value, or none for an empty one. */
  await: (key, value) =>
    value === ''
      ? spinUntil(() => cache.getSync(key) === undefined)
      : spinUntil(() => cache.getSync(key) === value),
  /** Spins on the epoch in the mapping itself until it moves: nothing but the load is in the loop. */
  epoch: () => {
    const store = native().NativeStore.open({
      path,
      leaseTimeout: 1000,
      emptyAtBoot: false,
      flushEvery: 5000,
      manualClock: false,
    })
    const { index, layout } = Mapping.of(store, store.layout()) as Mapping
    const at = layout.epochAt >> 2
    const before = Atomics.load(index, at)
    return spinUntil(() => Atomics.load(index, at) !== before)
  },
  /** Loads after a turn of the loop, and writes down that it did. */
  load: (key, value) =>
    cache.getOrSet(key, async () => {
      appendFileSync(countFile, '+')
      await new Promise((resolve) => setTimeout(resolve, 5))
      return value
    }),
  /** Begins a load that ends with `finish`. */
  hold: (key) =>
    cache.getOrSet(key, () => {
      say('loading')
      return new Promise<string>((resolve) => {
        finish = resolve
      })
    }),
  finish: (value) => finish?.(value),
  /** Holds a load for so many milliseconds. */
  holdFor: (key, value, ms) =>
    cache.getOrSet(key, () => {
      say('loading')
      return new Promise<string>((resolve) => setTimeout(resolve, Number(ms), value))
    }),
  /** Takes the lock of a key's name. */
  lock: (key) => cache.lease(key).acquire(),
  /**
   * Has so many callers ask for a key whose source fails when this process is told `finish`, and says how many loads began, and
   * how many callers got the error.
   */
  fail: async (key, callers) => {
    let loads = 0
    const source = async () => {
      loads++
      appendFileSync(countFile, '+')
      say('loading')
      await new Promise<string>((resolve) => ends.push(resolve))
      throw new Error('down')
    }
    const all = Array.from({ length: Number(callers) }, () => cache.getOrSet(key, source))
    say('asked')
    const settled = await Promise.allSettled(all)
    const failed = settled.filter(
      (one) => one.status === 'rejected' && one.reason.message === 'down',
    )
    say({ loads, failed: failed.length })
  },
  /** Ends the loads of `fail`. */
  end: () => {
    for (const end of ends.splice(0)) end('')
  },
  /** Overwrites a few keys with texts of one letter each, as long as the process lives. */
  scribble: () => {
    say('scribbling')
    for (let turn = 0; ; turn++) {
      const letter = String.fromCharCode(97 + (turn % 26))
      cache.setSync(`k${turn % 7}`, letter.repeat(1 + ((turn * 7919) % 12_000)))
      if (turn % 11 === 0) cache.deleteSync(`k${turn % 5}`)
    }
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...given] = JSON.parse(line) as string[]
  const done = commands[command](...given)
  // A load that is held lets the next command through.
  if (command === 'fail') continue
  if (command === 'hold') (done as Promise<string>).then((value) => say({ held: value }))
  else say({ done: (await done) ?? null })
}
cache.closeSync()
