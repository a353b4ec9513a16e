/** What users of lru-cache and node-cache look for: stale reads, sizes, order, dumps, a cache that refuses. */
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import {
  type EntryTooLarge,
  InvalidArgument,
  MemoryCache,
  type MemoryStatus,
  NoSpace,
} from '../../src/memory/index.ts'
import { failure } from '../support/failure.ts'
import { checkAfterEach, openMemory } from '../support/structure.ts'
import { Timers } from '../support/timers.ts'

type Any = ReturnType<typeof JSON.parse>

checkAfterEach()

describe('reads of what has expired', () => {
  test('allowStale gives it once, noDeleteOnStaleGet again', () => {
    const { cache, clock } = openMemory<string, Any>({ ttl: '1s', allowStale: true })
    for (const key of ['a', 'b']) cache.set(key, { key })
    clock.now += 1000
    expect([cache.has('a'), cache.peek('a'), [...cache.keys()]]).toEqual([
      false,
      { key: 'a' },
      ['a', 'b'],
    ])
    expect([cache.get('a'), cache.get('a')]).toEqual([{ key: 'a' }, undefined])
    expect(cache.get('b', { noDeleteOnStaleGet: true })).toEqual({ key: 'b' })
    expect(cache.get('b', { allowStale: false })).toBeUndefined()
    expect(cache.get('b')).toBeUndefined()
  })

  test('a read may ask for it by itself, as long as it is there', () => {
    const { cache, clock } = openMemory<string, Any>({ ttl: '1s', deleteOnExpire: false })
    cache.set('k', 1)
    clock.now += 1000
    expect([cache.get('k'), cache.get('k', { allowStale: true })]).toEqual([undefined, 1])
    expect([cache.delete('k'), cache.entry('k')]).toEqual([false, undefined])
  })

  test('a number that has expired begins anew', () => {
    const { cache, clock } = openMemory<string, number>({ ttl: '1s', allowStale: true })
    cache.increment('k', 5)
    clock.now += 1000
    expect([cache.peek('k'), cache.increment('k'), cache.ttl('k')]).toEqual([5, 1, 1000])
  })

  test('noDeleteOnStaleGet leaves it, also for a read that does not ask for it', () => {
    const { cache, clock } = openMemory<string, Any>({ ttl: '1s', noDeleteOnStaleGet: true })
    cache.set('k', 1)
    clock.now += 1000
    expect([cache.get('k'), cache.get('k'), cache.get('k', { allowStale: true })]).toEqual([
      undefined,
      undefined,
      1,
    ])
  })

  test('deleteOnExpire: false tells once and keeps it, until it is purged', () => {
    const timers = new Timers()
    const told: unknown[] = []
    const cache = new MemoryCache<string, number>({ ttl: '1s', deleteOnExpire: false })
    cache.on('expired', (...what) => told.push(what))
    cache.set('k', 1)
    timers.advance(5000)
    cache.get('k')
    timers.advance(5000)
    expect([told, cache.size, cache.entry('k')?.stale]).toEqual([[['k', 1]], 1, true])
    expect([[...cache.keys()], cache.stats().expired]).toEqual([[], 1])
    cache.set('k', 2)
    expect(cache.get('k')).toBe(2)
    timers.advance(5000)
    expect(told).toHaveLength(2)
    expect([cache.purgeExpired(), cache.size, cache.stats().expired]).toEqual([1, 0, 2])
  })

  test('what may be read on is not freed behind its back', () => {
    const timers = new Timers()
    const cache = new MemoryCache({ ttl: '1s', allowStale: true })
    cache.set('k', 1)
    timers.advance(60_000)
    expect([timers.waiting, cache.get('k')]).toEqual([0, 1])
  })

  test('checkPeriod says how often it is looked for', () => {
    const timers = new Timers()
    const caches = (['5s', null] as const).map((checkPeriod) => {
      const cache = new MemoryCache({ ttl: '1s', checkPeriod })
      cache.set('k', 1)
      return cache
    })
    timers.advance(4999)
    expect(caches.map((cache) => cache.size)).toEqual([1, 1])
    timers.advance(1000)
    expect(caches.map((cache) => cache.size)).toEqual([0, 1])
    expect(caches[1].get('k')).toBeUndefined()
  })
})

describe('writes', () => {
  test('noUpdateTTL keeps the expiry of what is there and has not expired', () => {
    const { cache, clock } = openMemory<string, number>({ ttl: '10s', noUpdateTTL: true })
    cache.set('k', 1)
    clock.now += 4000
    cache.set('k', 2, { ttl: '1h' })
    expect([cache.ttl('k'), cache.get('k')]).toEqual([6000, 2])
    cache.set('k', 3, { noUpdateTTL: false })
    expect(cache.ttl('k')).toBe(10_000)
    clock.now += 10_000
    cache.set('k', 4)
    expect(cache.ttl('k')).toBe(10_000)
  })

  test('size goes before the weigher, maxEntrySize bounds one entry', () => {
    const { cache } = openMemory<string, string>({
      maxBytes: 100,
      maxEntrySize: 60,
      weigher: () => 10,
    })
    cache.set('a', 'x', { size: 50 })
    cache.set('b', 'x')
    expect([cache.bytes, cache.entry('a')?.bytes]).toEqual([60, 50])
    const error = failure(() => cache.set('a', 'y', { size: 61 })) as EntryTooLarge
    expect([error.size, error.limit, cache.has('a')]).toEqual([61, 60, false])
    expect(failure(() => cache.set('a', 'y', { size: 1.5 }))).toBeInstanceOf(InvalidArgument)
    const { cache: unweighed } = openMemory({ maxBytes: null })
    expect(failure(() => unweighed.set('a', 1, { size: 1 }))).toBeInstanceOf(InvalidArgument)
  })

  test('setMany takes options of one entry', () => {
    const { cache } = openMemory<string, number>({ ttl: '1m' })
    cache.setMany(
      [
        ['a', 1],
        ['b', 2, { ttl: '5s' }],
        ['c', 3, undefined],
      ],
      { ttl: '9s' },
    )
    expect(['a', 'b', 'c'].map((key) => cache.ttl(key))).toEqual([9000, 5000, 9000])
  })

  test('updateAgeOnHas', () => {
    const { cache, clock } = openMemory({ ttl: '10s' })
    cache.set('k', 1)
    clock.now += 9000
    expect([cache.has('k'), cache.ttl('k')]).toEqual([true, 1000])
    expect([cache.has('k', { updateAgeOnHas: true }), cache.ttl('k')]).toEqual([true, 10_000])
    clock.now += 9000
    expect([cache.get('k'), cache.ttl('k')]).toEqual([1, 1000])
    cache.set('idle', 1, { timeToIdle: '5s' })
    clock.now += 4000
    expect([cache.has('idle', { updateAgeOnHas: true }), cache.ttl('idle')]).toEqual([true, 5000])
    clock.now += 4000
    cache.has('idle', { updateAgeOnHas: true })
    // The time to live is not prolonged.
    expect(cache.ttl('idle')).toBe(2000)
  })
})

describe('the policy none', () => {
  test('refuses a new key when it is full, and takes other values of old ones', () => {
    const { cache, check } = openMemory<string, number>({ maxEntries: 2, policy: 'none' })
    cache.set('a', 1)
    cache.set('b', 1)
    const error = failure(() => cache.set('c', 1)) as NoSpace
    expect(error).toBeInstanceOf(NoSpace)
    expect([error.code, error.retryable]).toEqual(['no_space', true])
    cache.set('a', 2)
    expect([...cache]).toEqual([
      ['a', 2],
      ['b', 1],
    ])
    cache.delete('b')
    cache.set('c', 1)
    expect([cache.stats().evicted, cache.pop(), cache.size]).toEqual([0, 2, 1])
    check()
  })

  test('what has expired makes room; a value for which there is none supersedes the old one', () => {
    const { cache, clock, check } = openMemory<string, number>({
      maxBytes: 10,
      weigher: (_, value) => value,
      policy: 'none',
    })
    cache.set('a', 5, { ttl: '1s' })
    cache.set('b', 5)
    expect(failure(() => cache.set('c', 1))).toBeInstanceOf(NoSpace)
    clock.now += 1000
    cache.set('c', 1)
    expect(failure(() => cache.set('c', 6))).toBeInstanceOf(NoSpace)
    expect([...cache.keys()]).toEqual(['b'])
    check()
  })

  test('is not a policy of a memory tier', async () => {
    const { Cache } = await import('../../src/index.ts')
    expect(failure(() => new Cache({ memory: { policy: 'none' } }))).toBeInstanceOf(InvalidArgument)
  })
})

describe('order', () => {
  test('by use where the policy is lru, else by the time at which keys came in', () => {
    for (const [policy, order] of [
      ['lru', 'a c b'],
      ['2q-clock', 'a b c'],
      ['none', 'a b c'],
    ] as const) {
      const { cache } = openMemory<string, number>({ policy })
      for (const [place, key] of ['a', 'b', 'c'].entries()) cache.set(key, place)
      cache.get('a')
      const keys = order.split(' ')
      expect([...cache.keys()]).toEqual(keys)
      expect([...cache.rkeys()]).toEqual(keys.toReversed())
      expect([...cache.rentries()].map(([key]) => key)).toEqual(keys.toReversed())
      expect([...cache.rvalues()]).toEqual([...cache.values()].toReversed())
      const seen: unknown[] = []
      cache.forEach(function (this: unknown, ...what) {
        seen.push(this, ...what)
      }, 'this')
      expect(seen.slice(0, 4)).toEqual(['this', 0, 'a', cache])
      cache.rforEach((_, key) => seen.push(key))
      expect(seen.slice(-3)).toEqual(keys.toReversed())
    }
  })

  test('an iteration by use ends, though each entry that comes is used', () => {
    const { cache } = openMemory<string, number>({ policy: 'lru' })
    for (const key of ['a', 'b', 'c']) cache.set(key, 1)
    const seen: string[] = []
    for (const key of cache.keys()) {
      cache.get(key)
      if (key === 'b') cache.delete('a')
      cache.set('new', 1)
      seen.push(key)
    }
    expect(seen).toEqual(['c', 'b'])
  })

  test('find is a use of what it finds; pop takes out what is the next to go', () => {
    const { cache } = openMemory<string, number>({ policy: 'lru' })
    for (const [place, key] of ['a', 'b', 'c'].entries()) cache.set(key, place)
    expect([cache.find((value) => value < 2), cache.find((value) => value > 5)]).toEqual([
      1,
      undefined,
    ])
    const told: unknown[] = []
    cache.on('evicted', (key) => told.push(key))
    expect([cache.pop(), cache.pop(), cache.pop(), cache.pop()]).toEqual([0, 2, 1, undefined])
    expect([told, cache.stats().evicted]).toEqual([['a', 'c', 'b'], 3])
  })

  test('pop gives nothing that has expired', () => {
    const { cache, clock } = openMemory<string, number>({ checkPeriod: null, policy: 'lru' })
    cache.set('a', 1, { ttl: '1s' })
    cache.set('b', 2)
    clock.now += 1000
    expect([cache.pop(), cache.size]).toEqual([2, 0])
  })
})

describe('dump and load', () => {
  test.each(['lru', '2q-clock'] as const)('by JSON, with times and order: %s', (policy) => {
    const { cache, clock } = openMemory<string, Any>({ policy })
    cache.set('a', { a: 1 }, { ttl: '10s', timeToIdle: '8s' })
    cache.set('b', 'b', { ttl: '1s' })
    cache.set('c', null)
    cache.set('idle', 1, { timeToIdle: '3s' })
    cache.set('over', 1, { timeToIdle: '2s' })
    clock.now += 500
    cache.get('idle')
    cache.get('a')
    const dumped = JSON.parse(JSON.stringify(cache.dump()))
    const { cache: other, clock: later, check } = openMemory<string, Any>({ policy })
    other.set('gone', 1)
    later.now = clock.now + 2000
    other.load(dumped)
    expect([...other]).toEqual([...cache].filter(([key]) => key !== 'b' && key !== 'over'))
    const left = () => ['a', 'c', 'idle'].map((key) => other.ttl(key))
    expect(left()).toEqual([6000, Number.POSITIVE_INFINITY, 1000])
    other.get('a')
    other.get('idle')
    expect(left()).toEqual([7500, Number.POSITIVE_INFINITY, 3000])
    check()
  })
})

describe('telling', () => {
  test('once is told once, and can be taken back', () => {
    const { cache } = openMemory<string, number>()
    const told: unknown[] = []
    const listener = (key: string) => told.push(key)
    expect(cache.once('set', listener)).toBe(cache)
    cache.set('a', 1)
    cache.set('b', 1)
    cache.once('set', listener).off('set', listener)
    cache.set('c', 1)
    expect(told).toEqual(['a'])
    expect(failure(() => cache.once('set', 5 as Any))).toBeInstanceOf(InvalidArgument)
    expect(failure(() => cache.once('get' as Any, () => {}))).toBeInstanceOf(InvalidArgument)
  })

  test('flushStats begins to count anew', () => {
    const { cache } = openMemory()
    cache.set('a', 1)
    cache.get('a')
    cache.get('x')
    cache.flushStats()
    expect(cache.stats()).toMatchObject({ hits: 0, misses: 0, writes: 0, entries: 1 })
    cache.get('a')
    expect(cache.stats().hits).toBe(1)
  })

  test('status says what was done', () => {
    const { cache, clock } = openMemory<string, number>({ ttl: '1s', allowStale: true })
    const did = (act: (status: MemoryStatus<number>) => unknown) => {
      const status: MemoryStatus<number> = {}
      act(status)
      return status
    }
    expect(did((status) => cache.set('k', 1, { status }))).toEqual({ set: 'add', ttl: 1000 })
    expect(did((status) => cache.set('k', 1, { status }))).toEqual({ set: 'update', ttl: 1000 })
    expect(did((status) => cache.set('k', 2, { status }))).toEqual({
      set: 'replace',
      oldValue: 1,
      ttl: 1000,
    })
    expect(did((status) => cache.get('k', { status }))).toEqual({ get: 'hit', ttl: 1000 })
    clock.now += 1500
    expect(did((status) => cache.has('k', { status }))).toEqual({ has: 'stale', ttl: -500 })
    expect(did((status) => cache.get('k', { status }))).toEqual({
      get: 'stale',
      ttl: -500,
      returnedStale: true,
    })
    expect(did((status) => cache.get('k', { status }))).toEqual({ get: 'miss' })
  })

  test('console.log shows bounds and what it holds', () => {
    const { cache } = openMemory({ maxEntries: 5, maxBytes: 1000 })
    cache.set('k', 1)
    const shown = inspect(cache)
    expect(shown).toMatch(
      /^MemoryCache \{ entries: 1, maxEntries: 5, bytes: \d+, maxBytes: 1000 \}$/,
    )
    expect(inspect({ cache })).toContain(shown)
    expect(Object.keys(cache)).toEqual([])
  })

  test('a clone is refused, not empty', () => {
    const { cache } = openMemory()
    expect(failure(() => structuredClone(cache))).toMatchObject({ name: 'DataCloneError' })
    expect(failure(() => new MessageChannel().port1.postMessage({ cache }))).toMatchObject({
      name: 'DataCloneError',
    })
  })
})

test('what is new is checked as the rest is', () => {
  for (const wrong of [
    { removalListener: 5 },
    { dispose: () => {} },
    { sliding: true },
    { loader: 'x' },
    { allowStale: 1 },
    { deleteOnExpire: null },
    { noUpdateTTL: 'yes' },
    { maxEntrySize: -1 },
    { checkPeriod: 5 },
    { leaseTimeout: 0 },
    { updateAgeOnHas: 0 },
  ]) {
    expect(
      failure(() => new MemoryCache(wrong as Any)),
      JSON.stringify(wrong),
    ).toBeInstanceOf(InvalidArgument)
  }
  const cache: Any = new MemoryCache()
  for (const act of [
    () => cache.get('k', { colour: 1 }),
    () => cache.get('k', { allowStale: 1 }),
    () => cache.get('k', { sliding: true }),
    () => cache.has('k', { x: 1 }),
    () => cache.peek('k', { colour: 1 }),
    () => cache.get('k', null),
    () => cache.getOrSetSync('k', () => 1, { x: 1 }),
    () => cache.getOrSetSync('k', () => 1, { signal: AbortSignal.abort() }),
  ]) {
    expect(failure(act)).toBeInstanceOf(InvalidArgument)
  }
})
