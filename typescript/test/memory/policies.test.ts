/** What is evicted: random operations beside models, and cases by hand. */
import { describe, expect, test } from 'vitest'
import { EntryTooLarge, type MemoryCacheOptions, type PolicyName } from '../../src/memory/index.ts'
import { failure } from '../support/failure.ts'
import { LruModel } from '../support/lru-model.ts'
import { Random } from '../support/random.ts'
import { checkAfterEach, openMemory } from '../support/structure.ts'

checkAfterEach()

interface Shape {
  readonly name: string
  readonly maxEntries: number
  readonly maxBytes: number
  readonly keys: number
  /** Heaviest entry; some are heavier than all may be. */
  readonly heaviest: number
  readonly operations: number
}

const SHAPES: readonly Shape[] = [
  { name: 'one', maxEntries: 1, maxBytes: 100, keys: 3, heaviest: 1, operations: 1000 },
  { name: 'few entries', maxEntries: 7, maxBytes: 1e9, keys: 20, heaviest: 1, operations: 4000 },
  { name: 'few bytes', maxEntries: 1000, maxBytes: 60, keys: 25, heaviest: 70, operations: 4000 },
  { name: 'both', maxEntries: 9, maxBytes: 80, keys: 30, heaviest: 25, operations: 4000 },
  { name: 'more', maxEntries: 200, maxBytes: 1000, keys: 700, heaviest: 9, operations: 9000 },
]
const CASES = SHAPES.flatMap((shape) =>
  [1, 2, 3].flatMap((seed) => [true, false].map((heard) => ({ ...shape, seed, heard }))),
)

type Operation =
  | { readonly op: 'get' | 'peek' | 'has' | 'delete' | 'take'; readonly key: string }
  | { readonly op: 'touch'; readonly key: string; readonly ttl: number }
  | {
      readonly op: 'set'
      readonly key: string
      readonly weight: number
      readonly ttl: number
      /** Milliseconds; 0 is for ever. */
      readonly idle: number
    }
  | { readonly op: 'wait'; readonly ms: number }
  | { readonly op: 'purge' | 'clear' }

/** Mostly reads and writes; now and then time goes on, or back, or everything goes. */
function operation(random: Random, { keys, heaviest }: Shape): Operation {
  // Half of all are for an eighth of the keys.
  const key = `k${random.below(random.below(2) === 0 ? keys : Math.ceil(keys / 8))}`
  const dice = random.below(100)
  if (dice < 40) return { op: 'get', key }
  if (dice < 75) {
    const ttl = random.pick([0, 0, 0, 50, 500])
    return {
      op: 'set',
      key,
      weight: random.below(heaviest + 1),
      ttl,
      idle: random.pick([0, 0, 0, 0, 0, 0, 0, 0, 0, 30, 300, 3000]),
    }
  }
  if (dice < 79) return { op: 'peek', key }
  if (dice < 83) return { op: 'has', key }
  if (dice < 87) return { op: 'delete', key }
  if (dice < 89) return { op: 'take', key }
  if (dice < 92) return { op: 'touch', key, ttl: random.pick([0, 50, 500]) }
  if (dice < 98) return { op: 'wait', ms: random.pick([1, 7, 20, 200]) }
  if (dice < 99) return { op: 'purge' }
  return random.below(8) === 0 ? { op: 'clear' } : { op: 'wait', ms: -random.pick([1, 1200]) }
}

/** `expect` is slow, and these are a million. */
function same(actual: unknown, expected: unknown, label: string): void {
  if (!Object.is(actual, expected)) expect(actual, label).toBe(expected)
}

/** A cache of numbers that weigh what a table says. */
function subject(policy: PolicyName | undefined, { maxEntries, maxBytes }: Shape, heard: boolean) {
  const weights = new Map<string, number>()
  const options: MemoryCacheOptions<string, number> = {
    maxEntries,
    maxBytes,
    weigher: (key) => weights.get(key) as number,
    ...(policy && { policy }),
  }
  const open = openMemory<string, number>(options)
  const evicted: string[] = []
  const expired: string[] = []
  if (heard) {
    open.cache.on('evicted', (key) => evicted.push(key))
    open.cache.on('expired', (key) => expired.push(key))
  }
  return { ...open, weights, evicted, expired }
}

describe('lru is exact', () => {
  test.each(CASES)('$name, seed $seed, heard $heard', (shape) => {
    const { cache, clock, weights, evicted, check } = subject('lru', shape, shape.heard)
    const model = new LruModel(shape.maxEntries, shape.maxBytes)
    const random = new Random(shape.seed)
    let told = 0
    const checkEvery = shape.maxEntries > 100 ? 20 : 1
    for (let turn = 0; turn < shape.operations; turn++) {
      const done = operation(random, shape)
      const label = `${turn}: ${JSON.stringify(done)}`
      const { now } = clock
      switch (done.op) {
        case 'get':
          same(cache.get(done.key), model.get(done.key, now), label)
          break
        case 'peek':
          same(cache.peek(done.key), model.find(done.key, now)?.value, label)
          break
        case 'has':
          same(cache.has(done.key), model.isServed(done.key, now), label)
          break
        case 'delete':
          same(cache.delete(done.key), model.find(done.key, now) !== undefined, label)
          model.entries.delete(done.key)
          break
        case 'take':
          same(cache.take(done.key), model.find(done.key, now)?.value, label)
          model.entries.delete(done.key)
          break
        case 'touch': {
          const touched = cache.touch(done.key, done.ttl === 0 ? null : { ms: done.ttl })
          same(touched, model.touch(done.key, done.ttl, now), label)
          break
        }
        case 'set': {
          const { key, weight, ttl, idle } = done
          weights.set(key, weight)
          const options = {
            ttl: ttl === 0 ? null : { ms: ttl },
            timeToIdle: idle === 0 ? null : { ms: idle },
          }
          const error = failure(() => cache.set(key, turn, options))
          const entry = { value: turn, weight, ttl, idle, written: now, used: now }
          const stored = model.set(key, entry)
          same(error instanceof EntryTooLarge, !stored, label)
          break
        }
        case 'wait':
          clock.now += done.ms
          break
        case 'purge':
          same(cache.purgeExpired(), model.purge(now), label)
          break
        case 'clear':
          cache.clear()
          model.entries.clear()
      }
      if (turn % checkEvery === 0) check()
      same(cache.size, model.entries.size, label)
      same(cache.bytes, model.weight, label)
      same(cache.stats().evicted, model.evicted.length, label)
      if (shape.heard) {
        same(evicted.splice(0).join(), model.evicted.slice(told).join(), label)
        told = model.evicted.length
      }
      if (turn % 50 === 0) {
        const served = [...model.entries].filter(([key]) => model.isServed(key, clock.now))
        const expected = served.map(([key, { value }]) => [key, value]).sort()
        expect([...cache].sort(), label).toEqual(expected)
        expect([...cache.keys()].sort(), label).toEqual(expected.map(([key]) => key))
      }
    }
    const { hits, misses } = cache.stats()
    expect(Math.min(hits, misses, model.evicted.length)).toBeGreaterThan(20)
  })
})

// What is exact of any policy: nothing is wrong, nothing is lost without being told of, and no more is
// evicted than has to be.
describe.each(['lru', undefined] as const)('policy %s', (policy) => {
  test.each(CASES)('$name, seed $seed, heard $heard', (shape) => {
    const { cache, clock, weights, evicted, expired, check } = subject(policy, shape, shape.heard)
    /** What was written and neither deleted nor cleared. */
    const written = new Map<string, { value: number; until: number; from: number }>()
    const random = new Random(100 + shape.seed)
    const forget = () => {
      for (const key of [...evicted.splice(0), ...expired.splice(0)]) {
        same(written.delete(key), true, `${key} goes once`)
      }
    }
    const isServed = (key: string) => {
      const { until = 0, from = 0 } = written.get(key) ?? {}
      return clock.now < until && clock.now >= from - 1000
    }
    let sets = 0
    const checkEvery = shape.maxEntries > 100 ? 20 : 1
    for (let turn = 0; turn < shape.operations; turn++) {
      const done = operation(random, shape)
      const label = `${turn}: ${JSON.stringify(done)}`
      const before = cache.stats()
      switch (done.op) {
        case 'get':
        case 'peek':
        case 'take': {
          const value = cache[done.op](done.key)
          forget()
          if (value !== undefined) {
            same(value, written.get(done.key)?.value, label)
            same(isServed(done.key), true, label)
            if (done.op === 'take') written.delete(done.key)
          } else if (shape.heard) {
            same(isServed(done.key), false, label)
          }
          break
        }
        case 'delete': {
          const deleted = cache.delete(done.key)
          forget()
          if (deleted || shape.heard) same(deleted, isServed(done.key), label)
          written.delete(done.key)
          break
        }
        case 'set': {
          const { key, weight, ttl } = done
          const old = cache.entry(key) === undefined ? undefined : weights.get(key)
          weights.set(key, weight)
          const error = failure(() => cache.set(key, turn, { ttl: ttl === 0 ? null : { ms: ttl } }))
          const after = cache.stats()
          same(error instanceof EntryTooLarge, weight > shape.maxBytes, label)
          forget()
          written.delete(key)
          if (error === undefined) {
            sets++
            const until = ttl === 0 ? Number.POSITIVE_INFINITY : clock.now + ttl
            const from = ttl === 0 ? Number.NEGATIVE_INFINITY : clock.now
            written.set(key, { value: turn, until, from })
            same(cache.peek(key), turn, `${label}: what was just stored is there`)
            const fits =
              before.entries + (old === undefined ? 1 : 0) <= shape.maxEntries &&
              before.bytes - (old ?? 0) + weight <= shape.maxBytes
            if (fits) same(after.evicted, before.evicted, `${label}: there was room`)
            if (shape.heaviest === 1) expect(after.evicted - before.evicted).toBeLessThanOrEqual(1)
          }
          break
        }
        case 'wait':
          clock.now += done.ms
          break
        case 'purge':
          cache.purgeExpired()
          forget()
          break
        case 'clear':
          cache.clear()
          written.clear()
          break
        case 'has':
        case 'touch':
          if (cache.has(done.key)) same(isServed(done.key), true, label)
      }
      if (turn % checkEvery === 0) check()
      if (turn % 50 === 0) {
        for (const [key, value] of cache) {
          same(value, written.get(key)?.value, label)
          same(isServed(key), true, label)
        }
        if (shape.heard) {
          const served = [...written.keys()].filter(isServed)
          expect([...cache.keys()].sort(), label).toEqual(served.sort())
        }
      }
      same(cache.stats().writes, sets, label)
    }
    const { hits, misses, evicted: all } = cache.stats()
    expect(Math.min(hits, misses, all)).toBeGreaterThan(20)
  })

  if (policy === 'lru')
    test('one hit keeps an entry through what is asked for once', () => {
      const { cache } = openMemory<string, number>({ maxEntries: 100, ...(policy && { policy }) })
      for (let key = 0; key < 100; key++) cache.set(`warm ${key}`, key)
      let hits = 0
      for (let key = 0; key < 1000; key++) {
        if (key % 20 === 0 && cache.get('warm 50') !== undefined) hits++
        cache.set(`once ${key}`, key)
      }
      expect(hits).toBe(50)
    })
})

/** Runs gets and sets of a text like `a b +a c`, where `+` is a get that misses nothing; gives what was evicted. */
function trace(policy: PolicyName, maxEntries: number, text: string): string {
  const { cache } = openMemory<string, number>({ policy, maxEntries })
  const evicted: string[] = []
  cache.on('evicted', (key) => evicted.push(key))
  for (const word of text.split(' ')) {
    if (word[0] === '+') expect(cache.get(word.slice(1)), word).toBe(1)
    else cache.set(word, 1)
  }
  return evicted.join(' ')
}

describe('lru, by hand', () => {
  test.each([
    [3, 'a b c d', 'a'],
    [3, 'a b c +a d', 'b'],
    [3, 'a b c +a +b d +a e', 'c b'],
    [3, 'a b c a d', 'b'],
    [3, 'a b c +c +c +c d e', 'a b'],
    [1, 'a b c', 'a b'],
    [2, 'a b +a c +a d +a e', 'b c d'],
  ])('%s entries: %s', (entries, text, evicted) => {
    expect(trace('lru', entries, text)).toBe(evicted)
  })

  test('what counts as a use', () => {
    const uses: [string, boolean][] = [
      ['get', true],
      ['touch', true],
      ['increment', true],
      ['peek', false],
      ['has', false],
      ['ttl', false],
      ['entry', false],
    ]
    for (const [method, counts] of uses) {
      const { cache } = openMemory<string, number>({ policy: 'lru', maxEntries: 2 })
      cache.set('a', 1)
      cache.set('b', 1)
      ;(cache[method as 'get'] as (key: string) => unknown)('a')
      cache.set('c', 1)
      expect([...cache.keys()], method).toEqual(counts ? ['c', 'a'] : ['c', 'b'])
    }
  })
})
