/** A Cache without a path: the memory tier alone. What all sets of tiers share is in conformance. */
import { describe, expect, test } from 'vitest'
import {
  Cache,
  type CacheOptions,
  Closed,
  EntryTooLarge,
  InvalidArgument,
  InvalidKey,
  type Key,
  UnsupportedValue,
} from '../../src/index.ts'
import { failure } from '../support/failure.ts'
import { Clock } from '../support/structure.ts'
import { Timers } from '../support/timers.ts'

type Any = ReturnType<typeof JSON.parse>

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A loader that a test ends when it wants to. */
class Load {
  count = 0
  end!: (value: unknown) => void
  fail!: (error: unknown) => void
  readonly loader = (): Promise<unknown> => {
    this.count++
    return new Promise((resolve, reject) => {
      this.end = resolve
      this.fail = reject
    })
  }
}

/** Lets everything that can go on do so. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe('getOrSet', () => {
  test('one loads, and each caller gets a value of its own', async () => {
    const cache = new Cache()
    const load = new Load()
    const calls = Array.from({ length: 20 }, () => cache.getOrSet<Any>('k', load.loader))
    const other = cache.getOrSet<Any>(bytes('k'), load.loader)
    await settle()
    expect(load.count).toBe(1)
    load.end({ list: [1] })
    const values = await Promise.all([...calls, other])
    for (const value of values) {
      expect(value).toEqual({ list: [1] })
      value.list.push(2)
    }
    expect(new Set(values).size).toBe(21)
    expect(cache.getSync('k')).toEqual({ list: [1] })
    expect(await cache.getOrSet('k', load.loader)).toEqual({ list: [1] })
    expect(load.count).toBe(1)
    const { hits, misses, writes, invalidatedLoads } = cache.statsSync()
    expect([misses, writes, invalidatedLoads]).toEqual([1, 1, 0])
    expect(hits).toBe(22)
  })

  const INVALIDATING: [string, (cache: Cache) => unknown, unknown][] = [
    ['a set', (cache) => cache.setSync('k', 'set'), 'set'],
    ['a set by bytes', (cache) => cache.setSync(bytes('k'), 'set'), 'set'],
    ['a delete', (cache) => cache.deleteSync('k'), undefined],
    ['a clear', (cache) => cache.clearSync(), undefined],
    [
      'a set that is too large',
      (cache) => failure(() => cache.setSync('k', 'x'.repeat(10_000))),
      undefined,
    ],
  ]
  test.each(INVALIDATING)('%s during a load wins', async (_, write, left) => {
    const cache = new Cache({ memory: { maxBytes: '8KiB' } })
    const load = new Load()
    const value = cache.getOrSet('k', load.loader)
    await settle()
    write(cache)
    load.end('loaded')
    expect(await value).toBe('loaded')
    expect(cache.getSync('k')).toBe(left)
    expect(cache.statsSync().invalidatedLoads).toBe(1)
    expect(await cache.getOrSet('k', () => 'next')).toBe(left ?? 'next')
  })

  const NOT_INVALIDATING: [string, (cache: Cache) => unknown][] = [
    ['a set of another key', (cache) => cache.setSync('l', 1)],
    ['a refused value', (cache) => failure(() => cache.setSync('k', () => 1))],
    ['a refused option', (cache) => failure(() => cache.setSync('k', 1, { ttl: 5 } as never))],
    ['a read', (cache) => [cache.getSync('k'), cache.hasSync('k'), cache.ttlSync('k')]],
    ['a clear of a nested namespace', (cache) => cache.namespace('a').clearSync()],
  ]
  test.each(NOT_INVALIDATING)('%s invalidates no load', async (_, use) => {
    const cache = new Cache()
    const load = new Load()
    const value = cache.getOrSet('k', load.loader)
    await settle()
    use(cache)
    load.end('loaded')
    expect(await value).toBe('loaded')
    expect([cache.getSync('k'), cache.statsSync().invalidatedLoads]).toEqual(['loaded', 0])
  })

  test('a clear of the parent invalidates loads of what is nested in it', async () => {
    const cache = new Cache({ namespace: 'a' })
    const load = new Load()
    const value = cache.namespace('b').namespace('c').getOrSet('k', load.loader)
    await settle()
    expect((await cache.check()).leases).toBe(1)
    cache.namespace('b').clearSync()
    load.end('loaded')
    expect(await value).toBe('loaded')
    expect(cache.namespace('b').namespace('c').getSync('k')).toBeUndefined()
  })

  test('a caller after a delete does not join the load from before it', async () => {
    const cache = new Cache()
    const [old, young] = [new Load(), new Load()]
    const first = cache.getOrSet('k', old.loader)
    await settle()
    cache.deleteSync('k')
    const second = cache.getOrSet('k', young.loader)
    await settle()
    old.end('old')
    young.end('young')
    expect([await first, await second, cache.getSync('k')]).toEqual(['old', 'young', 'young'])
  })

  test('a load that fails leaves the key to the next caller', async () => {
    const cache = new Cache()
    const load = new Load()
    const first = cache.getOrSet('k', load.loader)
    const second = cache.getOrSet('k', () => 'second')
    const settled = Promise.allSettled([first, second])
    await settle()
    const error = new RangeError('mine')
    load.fail(error)
    expect(await settled).toEqual(Array(2).fill({ status: 'rejected', reason: error }))
    expect(await cache.getOrSet('k', () => 'second')).toBe('second')
    expect((await cache.check()).leases).toBe(0)
  })

  test('a load that takes longer than its lease is overtaken; a clock that is set means nothing', async () => {
    const clock = new Clock()
    const cache = new Cache({ leaseTimeout: '1s', clock: clock.read })
    const [slow, quick] = [new Load(), new Load()]
    const timers = new Timers()
    const first = cache.getOrSet('k', slow.loader)
    await settle()
    clock.now -= 1e9
    timers.advance(999)
    const joined = cache.getOrSet('k', quick.loader)
    await settle()
    expect(quick.count).toBe(0)
    timers.advance(1)
    await settle()
    expect(quick.count).toBe(1)
    quick.end('quick')
    await settle()
    slow.end('slow')
    expect([await first, await joined, cache.getSync('k')]).toEqual(['slow', 'quick', 'quick'])
    expect(cache.statsSync().invalidatedLoads).toBe(1)
  })

  test('what it loads has its time to live', async () => {
    const clock = new Clock()
    const cache = new Cache({ clock: clock.read, ttl: '1m' })
    await cache.getOrSet('a', () => 1)
    await cache.getOrSet('b', () => 1, { ttl: '5s' })
    await cache.getOrSet('c', () => 1, { ttl: null })
    expect(['a', 'b', 'c'].map((key) => cache.ttlSync(key))).toEqual([
      60_000,
      5000,
      Number.POSITIVE_INFINITY,
    ])
    clock.now += 5000
    expect(await cache.getOrSet('b', () => 2)).toBe(2)
  })
})

describe('namespaces', () => {
  test('are apart, and share entries with those of the same name', () => {
    const cache = new Cache({ namespace: 'a' })
    const [nested, again] = [cache.namespace('b'), cache.namespace('b')]
    cache.setSync('k', 'a')
    nested.setSync('k', 'b')
    expect([cache.getSync('k'), again.getSync('k')]).toEqual(['a', 'b'])
    expect([[...cache.keys()], [...nested.keys()]]).toEqual([['k'], ['k']])
    expect(new Cache({ namespace: 'a' }).getSync('k')).toBeUndefined()
  })

  test('odd names and keys do not meet', () => {
    const cache = new Cache()
    const odd: [string[], string][] = [
      [[], 'a::k'],
      [['a'], 'k'],
      [['a'], ':k'],
      [['a:'], 'k'],
      [['a', 'b'], 'k'],
      [['a:b'], 'k'],
      [['a%3Ab'], 'k'],
      [['constructor'], '__proto__'],
      [['__proto__'], 'constructor'],
    ]
    const at = (parts: string[]) => parts.reduce((inner, part) => inner.namespace(part), cache)
    for (const [place, [parts, key]] of odd.entries()) at(parts).setSync(key, place)
    for (const [place, [parts, key]] of odd.entries()) expect(at(parts).getSync(key)).toBe(place)
  })

  test('a clear takes what is nested, and nothing beside it', () => {
    const cache = new Cache()
    const names = [[], ['a'], ['a', 'b'], ['a', 'b', 'c'], ['ab'], ['b']] as string[][]
    const at = (parts: string[]) => parts.reduce((inner, part) => inner.namespace(part), cache)
    const fill = () => {
      for (const parts of names) at(parts).setSync('k', 1)
    }
    const left = () =>
      names.filter((parts) => at(parts).getSync('k') === 1).map((parts) => parts.join())
    fill()
    at(['a', 'b']).clearSync()
    expect(left()).toEqual(['', 'a', 'ab', 'b'])
    fill()
    at(['a']).clearSync()
    expect(left()).toEqual(['', 'ab', 'b'])
    fill()
    cache.clearSync()
    expect([left(), cache.statsSync().entries]).toEqual([[], 0])
  })

  test('share the bounds', () => {
    const cache = new Cache({ memory: { maxEntries: 10 } })
    for (let number = 0; number < 30; number++) cache.namespace(`n${number}`).setSync('k', number)
    expect(cache.statsSync()).toMatchObject({ entries: 10, evictedByAge: 20, writes: 30 })
  })
})

describe('keys', () => {
  test('are text, bytes, and bytes that are not text', () => {
    const cache = new Cache()
    const half = Uint8Array.of(0xc3)
    const keys: Key[] = ['', 'a', 'ab', 'é', bytes('abc'), half, Uint8Array.of(0xff, 97)]
    for (const [place, key] of keys.entries()) cache.setSync(key, place)
    for (const [place, key] of keys.entries()) expect(cache.getSync(key)).toBe(place)
    expect(cache.getSync(bytes('ab'))).toBe(2)
    expect(cache.getSync('abc')).toBe(4)
    expect([...cache.keys()]).toEqual(['', 'a', 'ab', 'é', 'abc', half, Uint8Array.of(0xff, 97)])
    expect([...cache.keys('ab')]).toEqual(['ab', 'abc'])
    expect([...cache.keys(bytes('ab'))]).toEqual(['ab', 'abc'])
    // The first byte of é.
    expect([...cache.keys(half)]).toEqual(['é', half])
    expect([...cache.keys(Uint8Array.of(0xff))]).toEqual([Uint8Array.of(0xff, 97)])
    expect([...cache.keys('x')]).toEqual([])
  })

  test('half a surrogate pair is refused everywhere', async () => {
    const cache = new Cache()
    for (const key of ['\ud800', 'a\ud800', '\udc00', '\udc00a', 'a\udc00b']) {
      for (const use of [
        () => cache.getSync(key),
        () => cache.setSync(key, 1),
        () => cache.deleteSync(key),
        () => cache.hasSync(key),
        () => cache.ttlSync(key),
        () => cache.keys(key),
      ]) {
        expect(failure(use)).toBeInstanceOf(InvalidKey)
      }
      await expect(cache.getOrSet(key, () => 1)).rejects.toBeInstanceOf(InvalidKey)
    }
    for (const key of [undefined, null, 5, {}, ['k']]) {
      expect(failure(() => cache.getSync(key as never))).toBeInstanceOf(InvalidKey)
      expect(failure(() => cache.setSync(key as never, 1))).toBeInstanceOf(InvalidKey)
    }
    expect(cache.statsSync().entries).toBe(0)
  })

  test('may be iterated while the cache changes', () => {
    const cache = new Cache()
    for (const key of ['a', 'b', 'c']) cache.setSync(key, 1)
    const seen: Key[] = []
    for (const key of cache.keys()) {
      seen.push(key)
      cache.deleteSync('b')
      if (seen.length < 3) cache.setSync('d', 1)
    }
    expect(seen).toEqual(['a', 'c', 'd'])
  })
})

describe('values', () => {
  test('are copies by default', () => {
    const cache = new Cache()
    const value = { at: new Date(5), list: [new Set([1])], bytes: new Uint8Array([1]) }
    cache.setSync('k', value)
    expect(cache.getSync('k')).toEqual(value)
    expect(cache.getSync('k')).not.toBe(cache.getSync('k'))
    expect(failure(() => cache.setSync('k', undefined))).toBeInstanceOf(UnsupportedValue)
    expect(cache.hasSync('k')).toBe(true)
  })

  test('that are too large are refused, and the old value is gone', () => {
    const cache = new Cache({ memory: { maxBytes: '1KiB' } })
    cache.setSync('k', 1)
    expect(failure(() => cache.setSync('k', 'x'.repeat(2000)))).toBeInstanceOf(EntryTooLarge)
    expect(cache.getSync('k')).toBeUndefined()
  })

  test('isolation none gives what was stored', async () => {
    const cache = new Cache({ memory: { isolation: 'none' } })
    const value = { run: () => 1 }
    expect(await cache.getOrSet('k', () => value)).toBe(value)
    expect(cache.getSync('k')).toBe(value)
  })
})

test('closing ends it with its namespaces', async () => {
  const cache = new Cache()
  const nested = cache.namespace('a')
  const load = new Load()
  nested.setSync('k', 1)
  const held = nested.getOrSet('l', load.loader)
  await settle()
  cache.closeSync()
  cache.closeSync()
  load.end('loaded')
  await expect(held).rejects.toBeInstanceOf(Closed)
  expect([cache.closed, nested.closed]).toEqual([true, true])
  for (const use of [
    () => nested.getSync('k'),
    () => nested.setSync('k', 1),
    () => nested.keys(),
    () => nested.clearSync(),
    () => nested.statsSync(),
    () => nested.path,
    () => nested.namespace('b'),
  ]) {
    expect(failure(use)).toBeInstanceOf(Closed)
  }
})

test.each<[string, object]>([
  ['a limit', { limit: '4MiB' }],
  ['a serializer', { serializer: 'json' }],
  ['a compressor', { compressor: 'none' }],
  ['emptyAtBoot', { emptyAtBoot: false }],
  ['flushEvery', { flushEvery: '5s' }],
  ['a maxValue', { maxValue: 5 }],
  ['no memory', { memory: false }],
  ['true for memory', { memory: true }],
  ['null for memory', { memory: null }],
  ['an unknown option of memory', { memory: { max: 5 } }],
  ['a ttl in memory', { memory: { ttl: '5s' } }],
  ['a weigher in memory', { memory: { weigher: () => 1 } }],
  ['zero entries', { memory: { maxEntries: 0 } }],
  ['zero bytes', { memory: { maxBytes: 0 } }],
  ['a short leaseTimeout', { leaseTimeout: '62ms' }],
])('without a path %s is refused', (_, options) => {
  expect(failure(() => new Cache(options as CacheOptions))).toBeInstanceOf(InvalidArgument)
})
