/** Estimated bytes of values. */
import { describe, expect, test } from 'vitest'
import { Cloner } from '../../src/memory/clone.ts'
import { Freezer } from '../../src/memory/freeze.ts'
import { weigh } from '../../src/memory/weigh.ts'
import { randomGraph } from '../support/graphs.ts'
import { Random } from '../support/random.ts'

type Any = ReturnType<typeof JSON.parse>

describe('what a part weighs', () => {
  test.each<[string, unknown, number]>([
    ['a small integer', 1, 0],
    ['a boolean', true, 0],
    ['null', null, 0],
    ['undefined', undefined, 0],
    ['a float', 1.5, 16],
    ['-0', -0, 0],
    ['a big integer', 1n, 24],
    ['a bigger integer', 1n << 800n, 16 + 101],
    ['empty text', '', 24],
    ['short text, two bytes a character', 'abcd', 24 + 8],
    ['long text', 'a'.repeat(1000), 24 + 1000],
    ['long text of wide characters', 'ж'.repeat(1000), 24 + 2000],
    ['an empty object', {}, 24],
    ['an object', { a: 1, b: 2 }, 24 + 16],
    ['an object that holds one', { a: {} }, 24 + 8 + 24],
    ['an empty array', [], 48],
    ['an array of numbers', [1, 2, 3], 48 + 24],
    ['an array of arrays', [[], []], 3 * 48 + 16],
    ['a Date', new Date(), 96],
    ['a Map', new Map([[1, 2]]), 80 + 40],
    ['a Set', new Set([1, 2]), 80 + 64],
    ['an ArrayBuffer', new ArrayBuffer(1000), 120 + 1000],
    ['a view of all of it', new Uint8Array(1000), 104 + 120 + 1000],
    ['a Buffer', Buffer.alloc(1000), 104 + 1000],
  ])('%s', (_, value, bytes) => expect(weigh(value)).toBe(bytes))

  test('many properties are a hash table', () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`k${at}`, 1]))
    expect(weigh(many)).toBeGreaterThan(24 + 200 * 40)
  })
})

test('an object that is reached twice counts once; cycles end', () => {
  const shared = { text: 'x'.repeat(10_000) }
  const once = weigh([shared])
  expect(weigh([shared, shared])).toBe(once + 8)
  const cycle: Any = { shared }
  const before = weigh(cycle)
  cycle.self = cycle
  expect(weigh(cycle)).toBe(before + 8)
})

test('views on one buffer count it once', () => {
  const memory = new ArrayBuffer(10_000)
  const one = weigh([new Uint8Array(memory)])
  expect(weigh([new Uint8Array(memory), new Uint8Array(memory)])).toBe(one + 8 + 104)
})

describe('nothing is refused', () => {
  class Point {
    x = 'x'.repeat(1000)
  }
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const thrower = {
    get a(): never {
      throw new Error('mine')
    },
    b: 'x'.repeat(1000),
  }

  test.each<[string, unknown, number]>([
    ['a function', () => 1, 64],
    ['an instance', new Point(), 1000],
    ['a symbol', Symbol('a'), 64],
    ['a Promise', Promise.resolve(), 64],
    ['a revoked proxy', proxy, 64],
    ['a getter that throws', thrower, 1000],
    ['a SharedArrayBuffer', new SharedArrayBuffer(1000), 1000],
    ['an Error', new Error('x'.repeat(1000)), 1000],
    ['a function with properties', Object.assign(() => 1, { x: 'x'.repeat(1000) }), 1064],
    ['a global object', globalThis, 64],
  ])('%s', (_, value, least) => {
    expect(weigh(value)).toBeGreaterThanOrEqual(least)
    expect(weigh({ a: [value] })).toBeGreaterThanOrEqual(least + 80)
    expect(weigh(new Map([[value, new Set([value])]]))).toBeGreaterThanOrEqual(least + 232)
  })
})

test('more than 100,000 objects are not gone through', () => {
  let last: Any = {}
  for (let at = 0; at < 200_000; at++) last = { last }
  expect(weigh(last)).toBe(100_000 * 32)
})

test('a sparse array weighs what it has', () => {
  const sparse: unknown[] = []
  sparse[4_000_000_000] = 1
  expect(weigh(sparse)).toBeLessThan(1000)
  expect(weigh({ sparse })).toBeLessThan(1000)
})

describe('the walk that copies weighs alike', () => {
  const cloner = new Cloner()
  const freezer = new Freezer()

  test('flat values weigh the same', () => {
    for (const value of [1, 'text', null, { a: 1, b: 'x' }, [1, 2, 3], {}, []]) {
      cloner.copyIn(value)
      freezer.copyIn(value)
      expect(cloner.weight).toBe(weigh(value))
      expect(freezer.weight).toBe(weigh(value))
    }
  })

  test('random values weigh the same, but for what is kept beside them to copy them', () => {
    for (let seed = 1; seed <= 1000; seed++) {
      const value = randomGraph(new Random(seed), 'json')
      freezer.copyIn(value)
      expect(freezer.weight).toBe(weigh(value))
      cloner.copyIn(value)
      expect(cloner.weight).toBeGreaterThanOrEqual(weigh(value))
    }
  })

  test('a table for sharing is counted', () => {
    const shared = { a: 1 }
    cloner.copyIn(Array(1000).fill(shared))
    expect(cloner.weight).toBeGreaterThan(1000 * 32)
  })
})
