/** MemoryCache: every method and option. The policies are in policies.test.ts, the timers in sweeper.test.ts. */
import { describe, expect, test } from 'vitest'
import {
  EntryTooLarge,
  InvalidArgument,
  InvalidKey,
  MemoryCache,
  type MemoryCacheOptions,
  PolycacheError,
  UnsupportedValue,
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
    for (const options of [{ ttl: 5 }, { tll: '5s' }, { sliding: 1 }, null]) {
      expect(failure(() => cache.setMany([], options as never))).toBeInstanceOf(InvalidArgument)
    }
  })
})

describe('times to live', () => {
  test('an entry is there until its expiry, and not at it', () => {
    const { cache, clock } = openMemory({ ttl: '1s' })
    cache.set('k', 1)
    clock.now += 999
    expect([cache.get('k'), cache.peek('k'), cache.has('k'), cache.ttl('k')]).toEqual([
      1,
      1,
      true,
      1,
    ])
    clock.now += 1
    expect([cache.has('k'), cache.size]).toEqual([false, 1])
    expect([cache.get('k'), cache.size]).toEqual([undefined, 0])
    expect(cache.stats()).toMatchObject({ expired: 1, misses: 1, hits: 1, bytes: 0 })
  })

  const READS: [string, (cache: MemoryCache) => unknown, unknown][] = [
    ['get', (cache) => cache.get('k'), undefined],
    ['peek', (cache) => cache.peek('k'), undefined],
    ['has', (cache) => cache.has('k'), false],
    ['ttl', (cache) => cache.ttl('k'), undefined],
    ['take', (cache) => cache.take('k'), undefined],
    ['delete', (cache) => cache.delete('k'), false],
    ['touch', (cache) => cache.touch('k', '1h'), false],
    ['getMany', (cache) => cache.getMany(['k']).size, 0],
    ['deleteMany', (cache) => cache.deleteMany(['k']), 0],
    ['keys', (cache) => [...cache.keys()], []],
    ['values', (cache) => [...cache.values()], []],
    ['entries', (cache) => [...cache.entries()], []],
    ['iteration', (cache) => [...cache], []],
    ['increment', (cache) => cache.increment('k', 5), 5],
    ['decrement', (cache) => cache.decrement('k', 5), -5],
  ]
  test.each(READS)('%s does not see what has expired', (_, read, nothing) => {
    const { cache, clock, check } = openMemory({ ttl: '1s' })
    cache.set('k', 1)
    clock.now += 1000
    expect(read(cache)).toEqual(nothing)
    check()
  })

  test.each(READS)('%s does not see what the clock was set back before', (_, read, nothing) => {
    const { cache, clock, check } = openMemory({ ttl: '1s' })
    cache.set('k', 1)
    clock.now -= 1001
    expect(read(cache)).toEqual(nothing)
    check()
  })

  test.each(READS)('%s sees it while the clock is back a little', (_, read, nothing) => {
    const { cache, clock } = openMemory({ ttl: '1s' })
    cache.set('k', 1)
    clock.now -= 1000
    expect(read(cache)).not.toEqual(nothing)
  })

  test('set over an entry that has expired is a new one', () => {
    const { cache, clock } = openMemory({ ttl: '1s' })
    cache.set('k', 1)
    clock.now += 5000
    cache.set('k', 2)
    expect([cache.get('k'), cache.ttl('k'), cache.size]).toEqual([2, 1000, 1])
  })

  test("an entry's own comes before the cache's", () => {
    const { cache, clock } = openMemory({ ttl: '1m' })
    cache.set('own', 1)
    cache.set('given', 1, { ttl: '5s' })
    cache.set('ms', 1, { ttl: { ms: 0.5 } })
    cache.set('forever', 1, { ttl: null })
    cache.set('undefined', 1, { ttl: undefined } as never)
    const left = (key: string) => cache.ttl(key)
    expect(['own', 'given', 'ms', 'forever', 'undefined', 'none'].map(left)).toEqual([
      60_000,
      5000,
      1,
      Number.POSITIVE_INFINITY,
      60_000,
      undefined,
    ])
    clock.now += 60_000
    expect([...cache.keys()]).toEqual(['forever'])
  })

  test('null is none for the cache too', () => {
    const { cache } = openMemory({ ttl: null })
    cache.set('k', 1)
    expect(cache.ttl('k')).toBe(Number.POSITIVE_INFINITY)
    expect(cache.entry('k')).toEqual({ value: 1, expires: Number.POSITIVE_INFINITY, stale: false })
  })

  test('a set again does away with the old one', () => {
    const { cache, clock } = openMemory()
    cache.set('k', 1, { ttl: '1s', sliding: true })
    cache.set('k', 2)
    clock.now += 10_000
    expect(cache.get('k')).toBe(2)
    cache.set('k', 3, { ttl: '1s' })
    clock.now += 999
    cache.get('k')
    clock.now += 1
    expect(cache.get('k')).toBeUndefined()
  })

  test('the longest ends where times end', () => {
    const { cache } = openMemory()
    cache.set('k', 1, { ttl: { ms: 2 ** 48 - 1 } })
    expect(cache.entry('k')?.expires).toBe(2 ** 48 - 1)
    expect(cache.get('k')).toBe(1)
  })

  test('ttl is what is left, also between two looks at a clock that goes on', () => {
    let now = 0
    const cache = new MemoryCache({ clock: () => now++ })
    cache.set('k', 1, { ttl: { ms: 2 } })
    expect(cache.ttl('k')).toBe(0)
  })

  test('entry tells of what has expired, until it is freed', () => {
    const { cache, clock } = openMemory<string, Any>()
    cache.set('k', { a: 1 }, { ttl: '1s' })
    const { now } = clock
    expect(cache.entry('k')).toEqual({ value: { a: 1 }, expires: now + 1000, stale: false })
    clock.now += 1000
    const entry = cache.entry('k')
    expect(entry).toEqual({ value: { a: 1 }, expires: now + 1000, stale: true })
    ;(entry as Any).value.a = 2
    expect(cache.entry('k')?.value).toEqual({ a: 1 })
    cache.purgeExpired()
    expect([cache.entry('k'), cache.entry('x')]).toEqual([undefined, undefined])
    cache.set('k', 1, { ttl: '1s' })
    clock.now -= 5000
    expect(cache.entry('k')?.stale).toBe(true)
  })

  test('purgeExpired frees what has expired, and nothing else', () => {
    const { cache, clock, check } = openMemory<number, number>()
    for (let key = 0; key < 1000; key++) cache.set(key, key, { ttl: { ms: 1 + (key % 10) } })
    cache.set(-1, 0)
    expect(cache.purgeExpired()).toBe(0)
    for (let ms = 1; ms <= 10; ms++) {
      clock.now++
      expect(cache.purgeExpired()).toBe(100)
      expect(cache.size).toBe(1001 - 100 * ms)
      check()
    }
    expect(cache.stats().expired).toBe(1000)
    expect(cache.purgeExpired()).toBe(0)
  })
})

describe('sliding', () => {
  const SLIDES: [string, (cache: MemoryCache) => unknown, boolean][] = [
    ['get', (cache) => cache.get('k'), true],
    ['getMany', (cache) => cache.getMany(['k']), true],
    ['touch', (cache) => cache.touch('k'), true],
    ['increment', (cache) => cache.increment('k'), true],
    ['peek', (cache) => cache.peek('k'), false],
    ['has', (cache) => cache.has('k'), false],
    ['entry', (cache) => cache.entry('k'), false],
    ['ttl', (cache) => cache.ttl('k'), false],
    ['iteration', (cache) => [...cache], false],
  ]
  test.each(SLIDES)('%s', (_, use, renews) => {
    const { cache, clock, check } = openMemory({ ttl: '1s', sliding: true })
    cache.set('k', 1)
    for (let turn = 0; turn < 3; turn++) {
      clock.now += 400
      use(cache)
      check()
    }
    expect(cache.ttl('k')).toBe(renews ? 1000 : undefined)
    clock.now += 999
    expect(cache.has('k')).toBe(renews)
    clock.now += 1
    expect(cache.has('k')).toBe(false)
  })

  test("an entry's own comes before the cache's", () => {
    const { cache, clock } = openMemory({ ttl: '1s', sliding: true })
    cache.set('fixed', 1, { sliding: false })
    cache.set('long', 1, { ttl: '2s' })
    const { cache: fixed, clock: other } = openMemory({ ttl: '1s' })
    fixed.set('slides', 1, { sliding: true })
    clock.now += 600
    other.now += 600
    expect([cache.get('fixed'), cache.get('long'), fixed.get('slides')]).toEqual([1, 1, 1])
    expect([cache.ttl('fixed'), cache.ttl('long'), fixed.ttl('slides')]).toEqual([400, 2000, 1000])
  })

  test('without a time to live it means nothing', () => {
    const { cache, clock } = openMemory({ sliding: true })
    cache.set('k', 1)
    clock.now += 1e12
    expect([cache.get('k'), cache.ttl('k')]).toEqual([1, Number.POSITIVE_INFINITY])
  })
})

describe('touch', () => {
  test('sets the time to live anew', () => {
    const { cache, clock } = openMemory({ ttl: '1s' })
    cache.set('k', 1)
    clock.now += 500
    expect([cache.touch('k'), cache.ttl('k')]).toEqual([true, 1000])
    expect([cache.touch('k', '5s'), cache.ttl('k')]).toEqual([true, 5000])
    expect([cache.touch('k', null), cache.ttl('k')]).toEqual([true, Number.POSITIVE_INFINITY])
    expect([cache.touch('k', { ms: 7 }), cache.ttl('k')]).toEqual([true, 7])
    expect(cache.touch('x')).toBe(false)
    expect(cache.stats()).toMatchObject({ writes: 1, hits: 0 })
  })

  test('what slides goes on sliding', () => {
    const { cache, clock } = openMemory()
    cache.set('k', 1, { ttl: '1s', sliding: true })
    cache.touch('k', '2s')
    clock.now += 1500
    cache.get('k')
    expect(cache.ttl('k')).toBe(2000)
  })

  test('with a wrong time to live nothing is changed', () => {
    const { cache } = openMemory()
    cache.set('k', 1, { ttl: '1s' })
    for (const ttl of [5, '5', '0s', { ms: -1 }, { ms: 5n }, {}, []]) {
      expect(failure(() => cache.touch('k', ttl as never))).toBeInstanceOf(InvalidArgument)
    }
    expect(cache.ttl('k')).toBe(1000)
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
    const { cache } = openMemory({ ttl: '1s', sliding: true })
    cache.increment('k')
    expect(cache.ttl('k')).toBe(1000)
  })

  test('what is no number is refused, and nothing changes', () => {
    const { cache } = openMemory<string, Any>()
    const values = ['1', null, { a: 1 }, [1], 1n, true]
    for (const value of values) {
      cache.set('k', value, { ttl: '1s' })
      expect(failure(() => cache.increment('k'))).toBeInstanceOf(InvalidArgument)
      expect(failure(() => cache.decrement('k'))).toBeInstanceOf(InvalidArgument)
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

describe('bounds', () => {
  test('by entries', () => {
    const { cache } = openMemory<number, number>({ maxEntries: 1 })
    for (let key = 0; key < 10; key++) {
      cache.set(key, key)
      expect([...cache]).toEqual([[key, key]])
    }
    expect(cache.stats().evicted).toBe(9)
  })

  test('by 10,000 entries without a word', () => {
    const { cache } = openMemory<number, number>()
    for (let key = 0; key < 10_001; key++) cache.set(key, key)
    expect(cache.size).toBe(10_000)
  })

  test('by 64 MiB without a word', () => {
    const { cache } = openMemory<number, string>()
    for (let key = 0; key < 70; key++) cache.set(key, 'x'.repeat(2 ** 20))
    expect(cache.size).toBe(63)
    expect(cache.bytes).toBeLessThanOrEqual(64 * 2 ** 20)
  })

  test('by bytes, as text or a number', () => {
    for (const maxBytes of [1024, '1KiB', '1024', '1024B']) {
      const { cache } = openMemory<number, number>({ maxBytes, weigher: () => 100 })
      for (let key = 0; key < 20; key++) cache.set(key, key)
      expect([cache.size, cache.bytes]).toEqual([10, 1000])
    }
  })

  test('entries that grow make room; one that needs all is left alone', () => {
    const { cache, check } = openMemory<string, number>({
      maxBytes: 100,
      weigher: (value) => value,
      policy: 'lru',
    })
    for (const key of ['a', 'b', 'c']) cache.set(key, 30)
    cache.set('a', 40)
    expect([...cache]).toEqual([
      ['a', 40],
      ['b', 30],
      ['c', 30],
    ])
    cache.set('b', 31)
    check()
    expect([...cache]).toEqual([
      ['a', 40],
      ['b', 31],
    ])
    cache.set('b', 100)
    check()
    expect([...cache]).toEqual([['b', 100]])
    cache.set('b', 1)
    expect(cache.bytes).toBe(1)
    expect(cache.stats().evicted).toBe(2)
  })

  test('what is heavier than the bound is refused, and the old value is gone', () => {
    const { cache } = openMemory<string, number>({ maxBytes: 100, weigher: (value) => value })
    const heard: unknown[] = []
    cache.on('delete', (...told) => heard.push(told))
    cache.set('k', 50)
    cache.set('other', 50)
    const error = failure(() => cache.set('k', 101)) as EntryTooLarge
    expect(error).toBeInstanceOf(EntryTooLarge)
    expect([error.code, error.size, error.limit]).toEqual(['entry_too_large', 101, 100])
    expect([...cache]).toEqual([['other', 50]])
    expect(heard).toEqual([['k', 50]])
    expect(failure(() => cache.set('new', 101))).toBeInstanceOf(EntryTooLarge)
    expect(cache.stats()).toMatchObject({ writes: 2, deletes: 1 })
    cache.set('k', 100)
    expect([...cache]).toEqual([['k', 100]])
  })

  test('a weigher is given value and key, and may say 0', () => {
    const seen: unknown[] = []
    const { cache } = openMemory<string, number>({
      maxBytes: 1,
      weigher: (value, key) => {
        seen.push([value, key])
        return 0
      },
    })
    for (let key = 0; key < 50; key++) cache.set(`${key}`, key)
    expect([cache.size, cache.bytes, seen[7]]).toEqual([50, 0, [7, '7']])
    const { cache: unbounded } = openMemory({ maxBytes: null, weigher: () => 7 })
    unbounded.set('k', 1)
    expect(unbounded.bytes).toBe(7)
  })

  test('a weight that is none is refused, and nothing changes', () => {
    let weight: unknown = 1
    const { cache } = openMemory({ weigher: () => weight as number })
    cache.set('k', 'old')
    for (weight of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '1', null, undefined, 1n]) {
      expect(failure(() => cache.set('k', 'new'))).toBeInstanceOf(InvalidArgument)
      expect(failure(() => cache.set('x', 'new'))).toBeInstanceOf(InvalidArgument)
    }
    expect([...cache]).toEqual([['k', 'old']])
    expect(cache.stats().writes).toBe(1)
  })

  test('a weigher that throws, or uses the cache', () => {
    let run = (): void => {
      throw new RangeError('mine')
    }
    const { cache, check } = openMemory<string, Any>({
      maxEntries: 2,
      weigher: () => {
        run()
        return 1
      },
    })
    expect(failure(() => cache.set('k', 1))).toBeInstanceOf(RangeError)
    expect(cache.size).toBe(0)
    run = () => {
      run = () => {}
      cache.set('k', { inner: 1 })
      cache.set('other', 1)
    }
    cache.set('k', 'outer')
    check()
    expect([...cache]).toEqual([
      ['k', 'outer'],
      ['other', 1],
    ])
  })
})

describe('iteration', () => {
  test('goes by the time at which a key came in', () => {
    const { cache } = openMemory<string, number>()
    for (const key of ['c', 'a', 'b']) cache.set(key, 1)
    cache.set('a', 2)
    cache.get('c')
    cache.touch('c', '1h')
    cache.set('a', 'heavier than before' as never)
    cache.increment('b')
    expect([...cache.keys()]).toEqual(['c', 'a', 'b'])
    expect([...cache.values()]).toEqual([1, 'heavier than before', 2])
    expect([...cache.entries()]).toEqual([...cache])
    cache.delete('c')
    cache.set('c', 1)
    expect([...cache.keys()]).toEqual(['a', 'b', 'c'])
  })

  test('an entry that is moved to make room for itself keeps its place', () => {
    const { cache } = openMemory<string, number>({ maxBytes: 10, weigher: (value) => value })
    cache.setMany([
      ['a', 3],
      ['b', 3],
      ['c', 3],
    ])
    cache.set('b', 7)
    expect([...cache.keys()].at(-1)).not.toBe('a')
    expect(cache.get('b')).toBe(7)
    const rest = [...cache.keys()]
    expect(rest).toEqual(['a', 'b', 'c'].filter((key) => rest.includes(key)))
  })

  const WAYS: [string, (cache: MemoryCache<Any, Any>) => Iterator<unknown>, boolean][] = [
    ['keys', (cache) => cache.keys(), false],
    ['keys, some of which expire', (cache) => cache.keys(), true],
    ['values', (cache) => cache.values(), false],
    ['entries', (cache) => cache[Symbol.iterator](), false],
  ]
  describe.each(WAYS)('%s may go on while the cache changes', (_, iterate, timed) => {
    function begin(maxEntries = 100) {
      const { cache, clock, check } = openMemory<string, string>({ maxEntries, policy: 'lru' })
      if (timed) cache.set('gone', 'gone', { ttl: { ms: 1 } })
      clock.now++
      for (const key of ['a', 'b', 'c', 'd']) cache.set(key, key)
      const iterator = iterate(cache)
      const next = () => [iterator.next().value].flat()[0]
      expect(next()).toBe('a')
      return { cache, next, check }
    }

    test('delete', () => {
      const { cache, next, check } = begin()
      cache.delete('a')
      cache.delete('b')
      expect([next(), next(), next()]).toEqual(['c', 'd', undefined])
      check()
    })

    test('set of what is there and of what is not', () => {
      const { cache, next } = begin()
      cache.set('b', 'b')
      cache.set('a', 'a')
      cache.set('e', 'e')
      cache.delete('c')
      cache.set('c', 'c')
      expect([next(), next(), next(), next(), next()]).toEqual(['b', 'd', 'e', 'c', undefined])
    })

    test('eviction', () => {
      const { cache, next, check } = begin(timed ? 5 : 4)
      cache.get('b')
      if (timed) cache.purgeExpired()
      if (timed) cache.set('z', 'z')
      cache.set('e', 'e')
      cache.set('f', 'f')
      const rest = [next(), next(), next(), next(), next()]
      expect(rest.filter((key) => key !== 'z')).toEqual(
        ['b', 'd', 'e', 'f', undefined, undefined].slice(0, timed ? 4 : 5),
      )
      check()
    })

    test('clear, and new ones after it', () => {
      const { cache, next, check } = begin()
      cache.clear()
      check()
      cache.set('d', 'd')
      cache.set('x', 'x')
      expect([next(), next(), next()]).toEqual(['d', 'x', undefined])
    })

    test('everything deleted as it comes', () => {
      const { cache, next } = begin()
      const seen: unknown[] = ['a']
      for (let key: Any = 'a'; key !== undefined; key = next()) {
        cache.delete(key)
        seen.push(key)
      }
      expect(seen.slice(1)).toEqual(['a', 'b', 'c', 'd'])
      expect([...cache.keys()]).toEqual([])
    })
  })

  test('counts as no use', () => {
    const { cache } = openMemory<string, number>({ maxEntries: 2, policy: 'lru' })
    cache.set('a', 1)
    cache.set('b', 2)
    const all = [[...cache], [...cache.keys()], [...cache.values()], [...cache.entries()]]
    expect(all[0]).toEqual(all[3])
    cache.peek('a')
    cache.has('a')
    cache.ttl('a')
    cache.entry('a')
    cache.set('c', 3)
    expect([...cache.keys()]).toEqual(['b', 'c'])
    expect(cache.stats()).toMatchObject({ hits: 0, misses: 0 })
  })
})

describe('isolation', () => {
  const GIVEN: [string, (cache: MemoryCache<string, Any>) => Any][] = [
    ['get', (cache) => cache.get('k')],
    ['peek', (cache) => cache.peek('k')],
    ['entry', (cache) => cache.entry('k')?.value],
    ['getMany', (cache) => cache.getMany(['k']).get('k')],
    ['values', (cache) => [...cache.values()][0]],
    ['entries', (cache) => [...cache][0][1]],
    ['take', (cache) => cache.take('k')],
  ]
  const graph = () => ({ list: [1, { deep: true }], at: new Date(5), map: new Map([['a', [1]]]) })

  test.each(GIVEN)('clone: %s gives a copy each time', (_, read) => {
    const { cache } = openMemory<string, Any>()
    const value = graph()
    cache.set('k', value)
    value.list.push(2)
    value.at.setTime(6)
    const one = read(cache)
    expect(one).toEqual(graph())
    one.list[1].deep = false
    one.map.get('a').push(2)
    if (cache.has('k')) expect(cache.get('k')).toEqual(graph())
  })

  test('clone: what is stored is a copy', () => {
    const { cache } = openMemory<string, Any>()
    const value = graph()
    cache.set('k', value)
    value.list.length = 0
    value.map.clear()
    value.at.setTime(9)
    expect(cache.get('k')).toEqual(graph())
    expect(cache.get('k')).not.toBe(cache.get('k'))
  })

  test.each(GIVEN)('freeze: %s gives the same frozen copy', (_, read) => {
    const { cache } = openMemory<string, Any>({ isolation: 'freeze' })
    const value = { list: [1, { deep: true }] }
    cache.set('k', value)
    const stored = cache.peek('k')
    const one = read(cache)
    expect(one).toBe(stored)
    expect(one).not.toBe(value)
    expect(Object.isFrozen(value)).toBe(false)
    expect([Object.isFrozen(one), Object.isFrozen(one.list[1])]).toEqual([true, true])
  })

  test.each(GIVEN)('none: %s gives what was stored', (_, read) => {
    const { cache } = openMemory<string, Any>({ isolation: 'none' })
    const value = { run: () => 1, self: null as Any }
    value.self = value
    cache.set('k', value)
    expect(read(cache)).toBe(value)
  })

  test('what has no copy is refused, and nothing changes', () => {
    for (const [isolation, value] of [
      ['clone', () => 1],
      ['clone', { a: [Symbol('s')] }],
      ['clone', new WeakMap()],
      ['freeze', new Map()],
      ['freeze', { at: new Date() }],
    ] as const) {
      const { cache } = openMemory<string, Any>({ isolation })
      cache.set('k', 'old', { ttl: '1s' })
      expect(failure(() => cache.set('k', value))).toBeInstanceOf(UnsupportedValue)
      expect([cache.get('k'), cache.ttl('k'), cache.stats().writes]).toEqual(['old', 1000, 1])
    }
  })

  test('a getter that throws, or uses the cache', () => {
    const { cache, check } = openMemory<string, Any>({ maxEntries: 2 })
    const throwing = {
      get a() {
        throw new RangeError('mine')
      },
    }
    expect(failure(() => cache.set('k', throwing))).toBeInstanceOf(RangeError)
    expect(cache.size).toBe(0)
    const using = {
      get a() {
        cache.set('k', { list: [1] })
        cache.set('b', [[1]])
        cache.clear()
        cache.set('c', 1)
        return 'outer'
      },
    }
    cache.set('k', using)
    check()
    expect([...cache]).toEqual([
      ['c', 1],
      ['k', { a: 'outer' }],
    ])
  })

  class Point {
    x: number
    constructor(x: number) {
      this.x = x
    }
  }

  test('cloneInstance copies instances in and out', () => {
    const { cache } = openMemory<string, Point>({
      cloneInstance: (it) => new Point((it as Point).x),
    })
    const point = new Point(1)
    cache.set('k', point)
    point.x = 2
    const one = cache.get('k') as Point
    expect(one).toBeInstanceOf(Point)
    expect(one.x).toBe(1)
    one.x = 3
    expect(cache.get('k')?.x).toBe(1)
    const { cache: without } = openMemory<string, Point>()
    expect(failure(() => without.set('k', point))).toBeInstanceOf(UnsupportedValue)
  })

  // It runs whenever a value is handed out: to a caller, or to a listener in the middle of an eviction.
  test.each(['throws', 'clears', 'sets', 'deletes'])(
    'a cloneInstance that %s at a read',
    (what) => {
      let armed = false
      const { cache, check, clock } = openMemory<string, Any>({
        maxEntries: 2,
        policy: 'lru',
        cloneInstance: (it) => {
          if (armed) {
            armed = false
            if (what === 'throws') throw new RangeError('mine')
            if (what === 'clears') cache.clear()
            if (what === 'sets') for (const key of ['x', 'y', 'k']) cache.set(key, key)
            if (what === 'deletes') for (const key of ['k', 'l', 'm']) cache.delete(key)
            armed = true
          }
          return new Point((it as Point).x)
        },
      })
      const told: unknown[] = []
      for (const event of ['hit', 'set', 'delete', 'evict', 'expire'] as const) {
        cache.on(event, (key, value) => told.push([event, key, value]))
      }
      const uses: [string, () => unknown][] = [
        ['get', () => cache.get('k')],
        ['take', () => cache.take('k')],
        ['delete', () => cache.delete('k')],
        ['evict', () => cache.set('m', 1)],
        ['replace', () => cache.set('k', 1)],
        ['entries', () => [...cache]],
        ['purge', () => cache.purgeExpired()],
      ]
      for (const [name, use] of uses) {
        armed = false
        cache.clear()
        cache.set('k', new Point(1), { ttl: '1s' })
        cache.set('l', new Point(2), { ttl: '1s' })
        if (name === 'purge') clock.now += 1000
        armed = true
        const error = failure(use)
        expect(error === undefined || error instanceof RangeError, name).toBe(true)
        check()
      }
      expect(told.length).toBeGreaterThan(0)
    },
  )
})

describe('bad input is told of at once, and changes nothing', () => {
  const BAD: [string, unknown][] = [
    ['null', null],
    ['a number', 5],
    ['text', 'lru'],
    ['an unknown option', { max: 5 }],
    ['an option of Cache', { path: 'x' }],
    ['zero entries', { maxEntries: 0 }],
    ['fewer entries', { maxEntries: -1 }],
    ['a part of an entry', { maxEntries: 1.5 }],
    ['NaN entries', { maxEntries: Number.NaN }],
    ['infinite entries', { maxEntries: Number.POSITIVE_INFINITY }],
    ['more entries than slots', { maxEntries: 2 ** 24 + 1 }],
    ['entries as text', { maxEntries: '10' }],
    ['null entries', { maxEntries: null }],
    ['big entries', { maxEntries: 10n }],
    ['zero bytes', { maxBytes: 0 }],
    ['fewer bytes', { maxBytes: -1 }],
    ['half a byte', { maxBytes: 0.5 }],
    ['NaN bytes', { maxBytes: Number.NaN }],
    ['infinite bytes', { maxBytes: Number.POSITIVE_INFINITY }],
    ['bytes of an unknown unit', { maxBytes: '5XB' }],
    ['bytes of no unit', { maxBytes: '' }],
    ['bytes of constructor', { maxBytes: '5constructor' }],
    ['false bytes', { maxBytes: false }],
    ['an unknown policy', { policy: 'fifo' }],
    ['the policy constructor', { policy: 'constructor' }],
    ['a null policy', { policy: null }],
    ['an unknown isolation', { isolation: 'copy' }],
    ['a null isolation', { isolation: null }],
    ['a ttl of 0', { ttl: '0s' }],
    ['a bare number', { ttl: 5 }],
    ['a ttl below 0', { ttl: { ms: -5 } }],
    ['a ttl of NaN', { ttl: { ms: Number.NaN } }],
    ['an infinite ttl', { ttl: { ms: Number.POSITIVE_INFINITY } }],
    ['a ttl that is too long', { ttl: { ms: 2 ** 48 } }],
    ['a ttl that is too long in days', { ttl: '3300000d' }],
    ['a ttl of an unknown unit', { ttl: '5w' }],
    ['a ttl of seconds', { ttl: { s: 5 } }],
    ['a big ttl', { ttl: { ms: 5n } }],
    ['a ttl of text', { ttl: { ms: '5' } }],
    ['a list as a ttl', { ttl: [5] }],
    ['true as a ttl', { ttl: true }],
    ['sliding that is no boolean', { sliding: 1 }],
    ['sliding that is null', { sliding: null }],
    ['a weigher that is no function', { weigher: 5 }],
    ['a clock that is no function', { clock: 5 }],
    ['a cloneInstance that is no function', { cloneInstance: {} }],
  ]
  test.each(BAD)('%s', (_, options) => {
    const error = failure(() => new MemoryCache(options as MemoryCacheOptions)) as PolycacheError
    expect(error).toBeInstanceOf(InvalidArgument)
    expect([error.code, error.name, error.retryable]).toEqual([
      'invalid_argument',
      'InvalidArgument',
      false,
    ])
  })

  const OF_SET = BAD.filter(([, options]) => {
    return (
      options === null || typeof options !== 'object' || 'ttl' in options || 'sliding' in options
    )
  })
  test.each([...OF_SET, ['an option of the cache', { maxEntries: 5 }] as [string, unknown]])(
    'a write with %s',
    (_, options) => {
      const { cache, check } = openMemory<string, number>()
      cache.set('k', 1, { ttl: '5s' })
      for (const key of ['k', 'new']) {
        expect(failure(() => cache.set(key, 2, options as never))).toBeInstanceOf(InvalidArgument)
      }
      expect(failure(() => cache.setMany([['k', 2]], options as never))).toBeInstanceOf(
        InvalidArgument,
      )
      expect([[...cache], cache.ttl('k'), cache.stats().writes]).toEqual([[['k', 1]], 5000, 1])
      check()
    },
  )

  test('an object that refers to itself as a ttl', () => {
    const ttl: Any = {}
    ttl.ms = ttl
    expect(failure(() => new MemoryCache({ ttl }))).toBeInstanceOf(InvalidArgument)
  })

  test('options that are undefined are as if left out', () => {
    const options = {
      maxEntries: undefined,
      maxBytes: undefined,
      ttl: undefined,
      weigher: undefined,
    }
    const cache = new MemoryCache({ ...options, policy: undefined, clock: undefined } as Any)
    cache.set('k', 1, undefined)
    cache.set('k', 1, { sliding: undefined, ttl: undefined } as Any)
    expect(cache.get('k')).toBe(1)
  })

  test('undefined as a value or as a key', () => {
    for (const isolation of ['clone', 'freeze', 'none'] as const) {
      const { cache } = openMemory<Any, Any>({ isolation })
      cache.set('k', 1)
      const error = failure(() => cache.set('k', undefined)) as UnsupportedValue
      expect([error.code, error.path]).toEqual(['unsupported_value', '$'])
      expect(failure(() => cache.set(undefined, 1))).toBeInstanceOf(InvalidKey)
      expect(failure(() => cache.increment(undefined))).toBeInstanceOf(InvalidKey)
      expect([cache.get(undefined), cache.has(undefined), cache.delete(undefined)]).toEqual([
        undefined,
        false,
        false,
      ])
      expect([...cache]).toEqual([['k', 1]])
    }
  })

  test('a value beside the bounds, as the types have it', () => {
    const { cache } = openMemory<string, Any>()
    for (const value of [() => 1, Symbol('s'), new (class Own {})(), Promise.resolve()]) {
      expect(failure(() => cache.set('k', value))).toBeInstanceOf(PolycacheError)
    }
    expect(cache.size).toBe(0)
  })
})
