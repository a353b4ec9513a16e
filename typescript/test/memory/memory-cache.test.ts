/** MemoryCache: reading, writing and counting. Its other sides have files of their own beside this one. */
import { describe, expect, test } from 'vitest'
import {
  InvalidArgument,
  MemoryCache,
  UnsupportedValue,
  WrongType,
} from '../../src/memory/index.ts'
import { failure } from '../support/failure.ts'
import { checkAfterEach, openMemory } from '../support/structure.ts'

type Any = ReturnType<typeof JSON.parse>

checkAfterEach()

describe('get, set, has, delete, take, peek', () => {
  test('a miss is undefined, null and other falsy values are hits', () => {
    const { cache } = openMemory()
    for (const value of [null, 0, '', false, 0n, Number.NaN]) {
      expect(cache.get('k')).toBeUndefined()
      expect([cache.has('k'), cache.peek('k'), cache.take('k')]).toEqual([
        false,
        undefined,
        undefined,
      ])
      cache.set('k', value)
      expect([cache.has('k'), cache.get('k'), cache.peek('k')]).toEqual([true, value, value])
      expect([...cache.getMany(['k'])]).toEqual([['k', value]])
      expect(cache.take('k')).toEqual(value)
      expect(cache.delete('k')).toBe(false)
    }
  })

  test('delete and take remove once', () => {
    const { cache } = openMemory()
    cache.set('a', 1)
    cache.set('b', 2)
    expect([cache.delete('a'), cache.delete('a'), cache.has('a')]).toEqual([true, false, false])
    expect([cache.take('b'), cache.take('b'), cache.size]).toEqual([2, undefined, 0])
  })

  const KEYS: unknown[] = [
    'constructor',
    '__proto__',
    'toString',
    'hasOwnProperty',
    '',
    ' ',
    '\ud800',
    '\udc00',
    '\udc00x',
    'a\ud800',
    '\u0000',
    'é',
    'e\u0301',
    'x'.repeat(100_000),
    0,
    1,
    -1,
    1.5,
    2 ** 53,
    '0',
    '1',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1n,
    true,
    'true',
    null,
    'null',
    'undefined',
    Symbol('s'),
    Symbol.iterator,
    {},
    {},
    [],
    () => {},
  ]

  test('any key but undefined is one of its own', () => {
    const { cache } = openMemory<unknown, number>()
    for (const key of KEYS) expect(cache.get(key)).toBeUndefined()
    for (const [place, key] of KEYS.entries()) cache.set(key, place)
    expect(cache.size).toBe(KEYS.length)
    for (const [place, key] of KEYS.entries()) {
      expect([cache.has(key), cache.get(key), cache.peek(key)]).toEqual([true, place, place])
      expect([cache.ttl(key), cache.entry(key)?.value]).toEqual([Number.POSITIVE_INFINITY, place])
    }
    expect([...cache.keys()]).toEqual(KEYS)
    expect([...cache.getMany(KEYS)]).toEqual(KEYS.map((key, place) => [key, place]))
    for (const key of KEYS) expect(cache.increment(key, 10)).toBeGreaterThanOrEqual(10)
    expect(cache.deleteMany(KEYS)).toBe(KEYS.length)
    expect(cache.size).toBe(0)
  })

  test('minus zero is zero, NaN is NaN', () => {
    const { cache } = openMemory<number>()
    cache.set(-0, 'zero')
    cache.set(Number.NaN, 'none')
    expect([cache.get(0), cache.get(Number('x'))]).toEqual(['zero', 'none'])
    expect(Object.is([...cache.keys()][0], 0)).toBe(true)
  })
})

describe('many at once', () => {
  test('pairs, maps, other caches; in order', () => {
    const { cache } = openMemory<string, number>()
    cache.setMany(new Map([['a', 1]]))
    cache.setMany([
      ['b', 2],
      ['c', 3],
    ])
    const { cache: other } = openMemory<string, number>()
    other.setMany(cache)
    expect([...other]).toEqual([...cache])
    expect([...cache.getMany(['c', 'x', 'a', 'c'])]).toEqual([
      ['c', 3],
      ['a', 1],
    ])
    expect(cache.deleteMany(new Set(['a', 'x', 'c']))).toBe(2)
    expect(cache.deleteMany(cache.keys())).toBe(1)
    cache.setMany([])
    expect(cache.stats()).toMatchObject({ writes: 3, deletes: 3, hits: 3, misses: 1, entries: 0 })
  })

  test('options are for each pair', () => {
    const { cache, clock } = openMemory<string, number>()
    cache.setMany({ [Symbol.iterator]: () => [['a', 1] as const].values() }, { ttl: '5s' })
    clock.now += 4999
    expect(cache.has('a')).toBe(true)
    clock.now += 1
    expect(cache.has('a')).toBe(false)
  })

  test('after an error, what came before it is stored', () => {
    const { cache } = openMemory<string, Any>()
    const pairs = [
      ['a', 1],
      ['b', undefined],
      ['c', 3],
    ] as const
    expect(failure(() => cache.setMany(pairs))).toBeInstanceOf(UnsupportedValue)
    expect([...cache]).toEqual([['a', 1]])
  })

  test('wrong options are told of, also with no pair', () => {
    const { cache } = openMemory()
    for (const options of [{ ttl: 5 }, { tll: '5s' }, { timeToIdle: 1 }, null]) {
      expect(failure(() => cache.setMany([], options as never))).toBeInstanceOf(InvalidArgument)
    }
  })
})

describe('increment and decrement', () => {
  test('count from 0', () => {
    const { cache } = openMemory()
    expect([cache.increment('a'), cache.increment('a', 2.5), cache.get('a')]).toEqual([1, 3.5, 3.5])
    expect([cache.decrement('b'), cache.decrement('b', -3), cache.get('b')]).toEqual([-1, 2, 2])
    expect(Object.is(cache.decrement('c', 0), 0)).toBe(true)
  })

  test('keep the expiry, whatever time they take', () => {
    let now = 1_000_000
    // A clock that goes on at each look, so that the entry would live longer with each of them.
    const cache = new MemoryCache<string, number>({ clock: () => now++, maxBytes: null })
    cache.set('k', 1, { ttl: '1s' })
    const expires = cache.entry('k')?.expires
    for (let turn = 0; turn < 100; turn++) cache.increment('k')
    expect(cache.entry('k')?.expires).toBe(expires)
    now = (expires as number) - 50
    expect(cache.get('k')).toBe(101)
    now = expires as number
    expect(cache.get('k')).toBeUndefined()
  })

  test('at the last instant the entry does not come to live for ever', () => {
    for (let looks = 1; looks < 6; looks++) {
      let now = 0
      let left = Number.POSITIVE_INFINITY
      const clock = () => (left-- > 0 ? now : 10)
      const cache = new MemoryCache({ clock })
      cache.set('k', 1, { ttl: { ms: 10 } })
      now = 9
      left = looks
      cache.increment('k')
      left = 0
      expect(cache.ttl('k') ?? 0).toBeLessThanOrEqual(10)
    }
  })

  test('keep the time of the writing, which a clock that is set back is held against', () => {
    const { cache, clock } = openMemory<string, number>({ ttl: '1m' })
    cache.set('k', 1)
    clock.now += 30_000
    cache.increment('k')
    clock.now -= 20_000
    expect([cache.get('k'), cache.ttl('k')]).toEqual([2, 50_000])
  })

  test('a new entry has the time to live of the cache', () => {
    const { cache } = openMemory({ ttl: '1s', timeToIdle: '1m' })
    cache.increment('k')
    expect(cache.ttl('k')).toBe(1000)
  })

  test('what is not a number is refused, and nothing changes', () => {
    const { cache } = openMemory<string, Any>()
    const values = ['1', null, { a: 1 }, [1], 1n, true, Number.NaN, Number.NEGATIVE_INFINITY]
    for (const value of values) {
      cache.set('k', value, { ttl: '1s' })
      expect(failure(() => cache.increment('k'))).toBeInstanceOf(WrongType)
      expect(failure(() => cache.decrement('k'))).toBeInstanceOf(WrongType)
      expect([cache.get('k'), cache.ttl('k')]).toEqual([value, 1000])
    }
    cache.set('k', 1)
    const { NaN: none, POSITIVE_INFINITY: infinite } = Number
    for (const by of [none, infinite, -infinite, '1', null, 1n, true, {}, []]) {
      expect(failure(() => cache.increment('k', by as never))).toBeInstanceOf(InvalidArgument)
      expect(failure(() => cache.decrement('k', by as never))).toBeInstanceOf(InvalidArgument)
      expect(failure(() => cache.decrement('x', by as never))).toBeInstanceOf(InvalidArgument)
    }
    expect([...cache]).toEqual([['k', 1]])
    cache.set('k', Number.MAX_VALUE)
    expect(failure(() => cache.increment('k', Number.MAX_VALUE))).toBeInstanceOf(InvalidArgument)
    expect(cache.get('k')).toBe(Number.MAX_VALUE)
  })
})

describe('what it holds', () => {
  test('size, bytes and stats', () => {
    const { cache, clock } = openMemory<string, Any>({
      maxEntries: 3,
      weigher: () => 10,
      policy: 'lru',
    })
    for (const key of ['a', 'b', 'c', 'd', 'e']) cache.set(key, 1)
    expect([cache.size, cache.bytes]).toEqual([3, 30])
    cache.set('e', 2, { ttl: '1s' })
    cache.get('e')
    cache.get('x')
    cache.take('d')
    clock.now += 1000
    cache.get('e')
    cache.peek('c')
    cache.has('c')
    expect(cache.stats()).toEqual({
      hits: 2,
      misses: 2,
      writes: 6,
      deletes: 1,
      expired: 1,
      evicted: 2,
      invalidatedLoads: 0,
      unstored: 0,
      waitTimeouts: 0,
      entries: 1,
      bytes: 10,
    })
    cache.clear()
    expect([cache.size, cache.bytes, cache.stats().writes]).toEqual([0, 0, 6])
  })

  test('an estimate of bytes by default, nothing without a bound of bytes', () => {
    const { cache } = openMemory()
    cache.set('k', 'x'.repeat(1000))
    expect(cache.bytes).toBeGreaterThan(1000)
    expect(cache.bytes).toBeLessThan(1500)
    cache.set('k', 1)
    expect(cache.bytes).toBeLessThan(200)
    const { cache: unweighed } = openMemory({ maxBytes: null })
    unweighed.set('k', 'x'.repeat(1000))
    expect(unweighed.bytes).toBe(0)
  })

  test('clear empties, and the cache goes on', () => {
    for (const entries of [3, 127, 128, 129, 1000]) {
      const { cache, check } = openMemory<number, number>()
      for (let turn = 0; turn < 3; turn++) {
        for (let key = 0; key < entries; key++) cache.set(key, key, { ttl: '1h' })
        check()
        expect(cache.size).toBe(entries)
        cache.clear()
        check()
        expect([cache.size, cache.get(1), [...cache]]).toEqual([0, undefined, []])
      }
    }
  })

  test('using disposes of it', () => {
    const { cache } = openMemory()
    {
      using inner = cache
      inner.set('k', 1)
    }
    expect(cache.size).toBe(0)
    cache.set('k', 2)
    expect(cache.get('k')).toBe(2)
  })
})
