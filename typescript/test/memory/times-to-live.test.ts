/** MemoryCache: how long entries live. The timers that free them are in sweeper.test.ts. */
import { describe, expect, test } from 'vitest'
import { InvalidArgument, MemoryCache } from '../../src/memory/index.ts'
import { failure } from '../support/failure.ts'
import { checkAfterEach, openMemory } from '../support/structure.ts'

type Any = ReturnType<typeof JSON.parse>

checkAfterEach()

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
    expect(cache.entry('k')).toMatchObject({
      value: 1,
      expires: Number.POSITIVE_INFINITY,
      stale: false,
    })
  })

  test('a set again does away with the old one', () => {
    const { cache, clock } = openMemory()
    cache.set('k', 1, { ttl: '1s', timeToIdle: '1s' })
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
    expect(cache.entry('k')).toMatchObject({ value: { a: 1 }, expires: now + 1000, stale: false })
    clock.now += 1000
    const entry = cache.entry('k')
    expect(entry).toMatchObject({ value: { a: 1 }, expires: now + 1000, stale: true })
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

describe('a time to idle', () => {
  const USES: [string, (cache: MemoryCache) => unknown, boolean][] = [
    ['get', (cache) => cache.get('k'), true],
    ['getMany', (cache) => cache.getMany(['k']), true],
    ['getOrSetSync', (cache) => cache.getOrSetSync('k', () => 2), true],
    ['touch', (cache) => cache.touch('k'), true],
    ['increment', (cache) => cache.increment('k'), true],
    ['set', (cache) => cache.set('k', 2), true],
    ['peek', (cache) => cache.peek('k'), false],
    ['has', (cache) => cache.has('k'), false],
    ['entry', (cache) => cache.entry('k'), false],
    ['ttl', (cache) => cache.ttl('k'), false],
    ['iteration', (cache) => [...cache], false],
  ]
  test.each(USES)('%s', (_, use, isUse) => {
    const { cache, clock, check } = openMemory({ timeToIdle: '1s' })
    cache.set('k', 1)
    for (let turn = 0; turn < 3; turn++) {
      clock.now += 400
      use(cache)
      check()
    }
    expect(cache.ttl('k')).toBe(isUse ? 1000 : undefined)
    clock.now += 999
    expect(cache.has('k')).toBe(isUse)
    clock.now += 1
    expect(cache.has('k')).toBe(false)
  })

  test('with a time to live too, whichever comes first', () => {
    const { cache, clock, check } = openMemory({ ttl: '3s', timeToIdle: '2s' })
    cache.set('used', 1)
    cache.set('unused', 1)
    clock.now += 1500
    expect([cache.get('used'), cache.ttl('used'), cache.ttl('unused')]).toEqual([1, 1500, 500])
    check()
    clock.now += 500
    expect([cache.get('used'), cache.get('unused')]).toEqual([1, undefined])
    // However often it is used.
    clock.now += 999
    expect([cache.get('used'), cache.ttl('used')]).toEqual([1, 1])
    clock.now += 1
    expect([cache.get('used'), cache.size]).toEqual([undefined, 0])
    expect(cache.stats().expired).toBe(2)
    check()
  })

  test("an entry's own comes before the cache's, null is none", () => {
    const { cache, clock } = openMemory({ timeToIdle: '1s' })
    cache.set('own', 1, { timeToIdle: '2s' })
    cache.set('none', 1, { timeToIdle: null })
    cache.set('alive', 1, { timeToIdle: null, ttl: '5s' })
    cache.set('both', 1, { ttl: { ms: 500 } })
    const left = () => ['own', 'none', 'alive', 'both'].map((key) => cache.ttl(key))
    expect(left()).toEqual([2000, Number.POSITIVE_INFINITY, 5000, 500])
    clock.now += 400
    for (const key of ['own', 'none', 'alive', 'both']) cache.get(key)
    expect(left()).toEqual([2000, Number.POSITIVE_INFINITY, 4600, 100])
  })

  test('many entries, some of which have one', () => {
    const { cache, clock, check } = openMemory<number, number>({ maxEntries: 1000 })
    for (let key = 0; key < 1000; key++) {
      cache.set(key, key, key % 3 === 0 ? { timeToIdle: '1s' } : key % 3 === 1 ? { ttl: '1s' } : {})
    }
    check()
    clock.now += 600
    for (let key = 0; key < 1000; key++) cache.get(key)
    check()
    clock.now += 600
    expect(cache.purgeExpired()).toBe(333)
    expect([cache.has(0), cache.has(1), cache.has(2)]).toEqual([true, false, true])
    clock.now += 400
    expect(cache.purgeExpired()).toBe(334)
    check()
  })

  test('of a slot that is taken again nothing is left', () => {
    const { cache, clock } = openMemory({ maxEntries: 1 })
    cache.set('a', 1, { timeToIdle: '1s' })
    cache.set('b', 1, { ttl: '2s' })
    clock.now += 1500
    expect([cache.get('b'), cache.ttl('b')]).toEqual([1, 500])
    cache.set('b', 2, { timeToIdle: '1s' })
    cache.set('b', 3)
    expect(cache.ttl('b')).toBe(Number.POSITIVE_INFINITY)
  })

  test('noUpdateTTL keeps the time to live, and a set is a use', () => {
    const { cache, clock } = openMemory({ ttl: '3s', timeToIdle: '2s', noUpdateTTL: true })
    cache.set('k', 1)
    clock.now += 1500
    cache.set('k', 2)
    expect(cache.ttl('k')).toBe(1500)
    clock.now += 500
    expect([cache.get('k'), cache.ttl('k')]).toEqual([2, 1000])
  })

  test('increment keeps the time to live', () => {
    const { cache, clock } = openMemory<string, number>({ ttl: '3s', timeToIdle: '2s' })
    cache.set('k', 1)
    clock.now += 1500
    expect([cache.increment('k'), cache.ttl('k')]).toEqual([2, 1500])
  })

  test('counts from the last use, which a clock that is set back is held against', () => {
    const { cache, clock } = openMemory({ timeToIdle: '1m' })
    cache.set('k', 1)
    clock.now += 30_000
    cache.get('k')
    clock.now -= 1000
    expect(cache.has('k')).toBe(true)
    clock.now -= 1
    expect(cache.has('k')).toBe(false)
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

  test('begins a time to idle anew, which stays', () => {
    const { cache, clock, check } = openMemory()
    cache.set('k', 1, { ttl: '2s', timeToIdle: '1s' })
    clock.now += 900
    cache.touch('k', '5s')
    expect(cache.ttl('k')).toBe(1000)
    for (let turn = 0; turn < 5; turn++) {
      clock.now += 900
      cache.get('k')
      check()
    }
    expect(cache.ttl('k')).toBe(500)
    cache.touch('k', null)
    expect(cache.ttl('k')).toBe(1000)
    clock.now += 1000
    expect(cache.has('k')).toBe(false)
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
