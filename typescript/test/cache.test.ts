/** The class: both forms of each method, handles, namespaces, options. What all languages share is in conformance. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  Cache,
  type CacheOptions,
  Closed,
  Decimal,
  EntryTooLarge,
  ForeignDirectory,
  InvalidArgument,
  InvalidKey,
  type Key,
  PolycacheError,
  UnsupportedValue,
  Uuid,
} from '../src/index.ts'
import { folder, open } from './support/caches.ts'
import { failure } from './support/failure.ts'

describe('both forms of a method do the same', () => {
  test('set, get, has, ttl, delete', async () => {
    const cache = open({ clock: () => 1_000_000 })
    cache.setSync('a', 1, { ttl: '5s' })
    await cache.set('b', 2, { ttl: { ms: 5000 } })
    expect([cache.getSync('b'), await cache.get('a')]).toEqual([2, 1])
    expect([cache.hasSync('b'), await cache.has('a')]).toEqual([true, true])
    expect([cache.ttlSync('b'), await cache.ttl('a')]).toEqual([5000, 5000])
    expect([cache.deleteSync('b'), await cache.delete('a')]).toEqual([true, true])
    expect([cache.getSync('a'), await cache.get('b')]).toEqual([undefined, undefined])
    expect([cache.ttlSync('a'), await cache.ttl('b')]).toEqual([undefined, undefined])
    expect([cache.deleteSync('b'), await cache.delete('a')]).toEqual([false, false])
  })

  test('setMany, getMany, deleteMany take what iterates', async () => {
    const cache = open()
    cache.setManySync({ a: 1, b: 2 })
    await cache.setMany(
      new Map<Key, unknown>([
        ['c', 3],
        [Buffer.from('d'), 4],
      ]),
    )
    await cache.setMany([['e', null]])
    const keys = ['e', 'd', 'x', 'a']
    expect([...cache.getManySync(keys)]).toEqual([
      ['e', null],
      ['d', 4],
      ['a', 1],
    ])
    expect([...(await cache.getMany(new Set(keys)))]).toEqual([
      ['e', null],
      ['d', 4],
      ['a', 1],
    ])
    expect(cache.deleteManySync(['a', 'x'])).toBe(1)
    expect(await cache.deleteMany(cache.keys())).toBe(4)
    expect([...cache.keys()]).toEqual([])
  })

  test('clear, stats, close', async () => {
    const cache = open()
    cache.setSync('a', 1)
    cache.clearSync()
    expect(cache.getSync('a')).toBeUndefined()
    cache.setSync('a', 1)
    await cache.clear()
    expect(await cache.get('a')).toBeUndefined()
    expect(cache.statsSync()).toEqual(await cache.stats())
    await cache.close()
    cache.closeSync()
    expect(cache.closed).toBe(true)
  })

  test('a failure is thrown by one and rejects the other', async () => {
    const cache = open()
    expect(failure(() => cache.setSync('k', undefined))).toBeInstanceOf(UnsupportedValue)
    await expect(cache.set('k', undefined)).rejects.toBeInstanceOf(UnsupportedValue)
    await expect(cache.get(1 as unknown as string)).rejects.toBeInstanceOf(InvalidKey)
  })
})

describe('values', () => {
  test('of every type come back, each time as new ones', () => {
    const cache = open()
    const value = {
      null: null,
      bool: true,
      number: 1.5,
      bigint: 2n ** 100n,
      text: 'größe 🗝',
      bytes: Uint8Array.of(1, 2, 255),
      list: [1, [2]],
      set: new Set(['a', 1, null]),
      date: new Date(1_700_000_000_123),
      decimal: new Decimal('-1.50'),
      uuid: new Uuid('123e4567-e89b-12d3-a456-426614174000'),
      ['__proto__']: 'own',
      constructor: 'own',
    }
    cache.setSync('k', value)
    const [one, two] = [cache.getSync('k'), cache.getSync('k')]
    expect(one).toEqual(value)
    expect(one).not.toBe(two)
    expect(Object.keys(one as object)).toEqual(Object.keys(value))
    expect(Object.getPrototypeOf(one)).toBe(Object.prototype)
  })

  test('a Map with text keys comes back as an object, a Buffer as a Uint8Array', () => {
    const cache = open()
    cache.setSync(
      'map',
      new Map([
        ['b', 1],
        ['a', 2],
      ]),
    )
    expect(Object.entries(cache.getSync<object>('map') ?? {})).toEqual([
      ['b', 1],
      ['a', 2],
    ])
    cache.setSync('bytes', Buffer.from('abc'))
    const bytes = cache.getSync<Uint8Array>('bytes')
    expect(bytes?.constructor).toBe(Uint8Array)
    expect(bytes).toEqual(Uint8Array.of(97, 98, 99))
  })

  test('of every size up to a block come back, in every serializer', () => {
    const path = folder()
    for (const serializer of ['messagepack', 'text', 'json'] as const) {
      const cache = open({ path, limit: '4MiB', serializer, namespace: serializer })
      for (const letter of ['x', 'é', '🗝']) {
        for (const length of [
          0, 1, 11, 15, 16, 31, 32, 85, 127, 128, 255, 256, 257, 1000, 16_000,
        ]) {
          const text = letter.repeat(length)
          cache.setSync('k', text)
          expect(cache.getSync('k')).toBe(text)
        }
      }
    }
    const cache = open({ path, limit: '4MiB', serializer: 'bytes' })
    for (const length of [0, 1, 23, 24, 25, 4096, 60_000]) {
      const bytes = new Uint8Array(length).fill(7)
      cache.setSync('k', bytes)
      expect(cache.getSync('k')).toEqual(bytes)
    }
  })

  test('compressed ones come back, large ones too', () => {
    const cache = open({ compressor: 'zstd:19' })
    const value = { text: 'x'.repeat(1_000_000), list: Array.from({ length: 1000 }, (_, i) => i) }
    cache.setSync('k', value)
    expect(cache.getSync('k')).toEqual(value)
    expect(cache.getSync('k')).toEqual(value)
  })

  test.each([
    ['undefined', undefined, '$'],
    ['a function in a list', [1, () => 1], '$[1]'],
    ['a symbol', { a: Symbol('s') }, '$.a'],
    [
      'an instance of a class',
      { a: [{ 'two words': new (class Point {})() }] },
      '$.a[0]["two words"]',
    ],
    ['a hole', Object.assign([], { 0: 1, 2: 3 }), '$[1]'],
    ['half a surrogate pair', { a: ['\ud800'] }, '$.a[0]'],
    ['another typed array', { a: new Float64Array(1) }, '$.a'],
    ['an ArrayBuffer', new ArrayBuffer(1), '$'],
    ['an invalid date', [new Date(Number.NaN)], '$[0]'],
    ['a date after the year 9999', [new Date(8.64e15)], '$[0]'],
    ['a map with a key that is not text', { a: new Map([[1, 2]]) }, '$.a["1"]'],
    ['a list in a set', [new Set([1, []])], '$[0][1]'],
    ['an object in a set', new Set([{}]), '$[0]'],
    ['a boxed number', Object(1), '$'],
    ['a regular expression', /a/, '$'],
    ['a promise', Promise.resolve(1), '$'],
    ['a symbol as a key', { a: { [Symbol('s')]: 1 } }, '$.a["Symbol(s)"]'],
    ['a big integer of 4301 digits', [10n ** 4300n], '$[0]'],
  ])('%s is refused with its path', (_, value, path) => {
    const refusal = failure(() => open().setSync('k', value)) as UnsupportedValue
    expect(refusal).toBeInstanceOf(UnsupportedValue)
    expect(refusal.path).toBe(path)
  })

  test('a cycle is refused, also in JSON', () => {
    const cycle: Record<string, unknown> = {}
    cycle.a = [cycle]
    expect(failure(() => open().setSync('k', cycle))).toBeInstanceOf(UnsupportedValue)
    expect(failure(() => open({ serializer: 'json' }).setSync('k', cycle))).toBeInstanceOf(
      UnsupportedValue,
    )
  })

  test('objects of another realm are plain', async () => {
    const { runInNewContext } = await import('node:vm')
    const cache = open()
    cache.setSync(
      'k',
      runInNewContext('({ a: [1], d: new Date(5), s: new Set([1]), b: new Uint8Array(2) })'),
    )
    expect(cache.getSync('k')).toEqual({
      a: [1],
      d: new Date(5),
      s: new Set([1]),
      b: new Uint8Array(2),
    })
  })

  test('a getter may use the cache', () => {
    const cache = open()
    const value = {
      first: 'a',
      get second() {
        cache.setSync('other', { text: 'inner' })
        return cache.getSync('other')
      },
      third: 'c',
    }
    cache.setSync('k', value)
    expect(cache.getSync('k')).toEqual({ first: 'a', second: { text: 'inner' }, third: 'c' })
    expect(cache.getSync('other')).toEqual({ text: 'inner' })
  })

  test('a getter that throws or closes leaves the cache whole', () => {
    const cache = open()
    const thrown = new Error('from a getter')
    const value = {
      get a(): never {
        throw thrown
      },
    }
    expect(failure(() => cache.setSync('k', value))).toBe(thrown)
    cache.setSync('k', 1)
    expect(cache.getSync('k')).toBe(1)
    const closing = {
      get a() {
        cache.closeSync()
        return 1
      },
    }
    expect(failure(() => cache.setSync('k', closing))).toBeInstanceOf(Closed)
  })
})

describe('handles', () => {
  test('of one directory in one isolate are one cache', () => {
    const path = folder()
    const handles = [
      open({ path, limit: '4MiB' }),
      open({ path }),
      open({ path, leaseTimeout: '1m' }),
    ]
    handles.forEach((handle, place) => {
      handle.setSync('k', place)
      expect(handles.map((other) => other.getSync('k'))).toEqual([place, place, place])
    })
    handles[0].closeSync()
    expect(failure(() => handles[0].getSync('k'))).toBeInstanceOf(Closed)
    expect(handles[1].getSync('k')).toBe(2)
  })

  test('count what they did themselves', () => {
    const path = folder()
    const [one, two] = [open({ path, limit: '4MiB' }), open({ path, limit: '4MiB' })]
    one.setSync('k', 1)
    one.getSync('k')
    two.getSync('k')
    two.getSync('nothing')
    two.hasSync('k')
    const own = ({ hits, misses, writes }: { hits: number; misses: number; writes: number }) => [
      hits,
      misses,
      writes,
    ]
    expect(own(one.statsSync())).toEqual([1, 0, 1])
    expect(own(two.statsSync())).toEqual([2, 1, 0])
  })

  test('on a directory that was removed and made anew are another cache', () => {
    const path = `${folder()}/cache`
    const before = open({ path, limit: '4MiB' })
    before.setSync('k', 'old')
    renameSync(path, `${path}.old`)
    mkdirSync(path)
    const after = open({ path, limit: '4MiB' })
    expect(after.getSync('k')).toBeUndefined()
    after.setSync('k', 'new')
    expect([before.getSync('k'), after.getSync('k')]).toEqual(['old', 'new'])
    rmSync(`${path}.old`, { recursive: true })
  })

  test('are opened and closed many times', () => {
    const path = folder()
    for (let turn = 0; turn < 100; turn++) {
      const cache = open({ path, limit: '4MiB' })
      expect(cache.getSync('k')).toBe(turn === 0 ? undefined : turn - 1)
      cache.setSync('k', turn)
      cache.closeSync()
    }
  })

  test('close with `using`', () => {
    const cache = open()
    const path = cache.path
    cache[Symbol.dispose]()
    expect(cache.closed).toBe(true)
    expect(new Cache({ path: path as string })[Symbol.asyncDispose]()).toBeInstanceOf(Promise)
  })

  test('that are closed say so, in every operation', async () => {
    const cache = open()
    const nested = cache.namespace('n')
    const keys = cache.keys()
    cache.closeSync()
    const operations: [string, () => unknown][] = [
      ['get', () => cache.get('k')],
      ['set', () => cache.set('k', 1)],
      ['delete', () => cache.delete('k')],
      ['has', () => cache.has('k')],
      ['ttl', () => cache.ttl('k')],
      ['getMany', () => cache.getMany(['k'])],
      ['setMany', () => cache.setMany({ k: 1 })],
      ['deleteMany', () => cache.deleteMany(['k'])],
      ['getOrSet', () => cache.getOrSet('k', () => 1)],
      ['keys', async () => cache.keys()],
      ['keys that were asked for before', async () => [...keys]],
      ['clear', () => cache.clear()],
      ['stats', () => cache.stats()],
      ['check', () => cache.check()],
      ['flush', () => cache.flush()],
      ['namespace', async () => cache.namespace('n')],
      ['path', async () => cache.path],
      ['a namespace', () => nested.get('k')],
    ]
    for (const [name, operation] of operations) {
      const refusal = await Promise.resolve(operation()).catch((thrown: unknown) => thrown)
      expect(refusal, name).toBeInstanceOf(Closed)
    }
    await cache.close()
  })

  test('are closed at the end of the block that opened them, and not at that of a namespace', async () => {
    const cache = open()
    const nested = cache.namespace('n')
    nested[Symbol.dispose]()
    await nested[Symbol.asyncDispose]()
    expect(cache.closed).toBe(false)
    nested.setSync('k', 1)
    nested.closeSync()
    expect(cache.closed).toBe(true)
  })

  test('that are closed let what is under way end, with its answer or with Closed', async () => {
    const cache = open()
    cache.setSync('k', 1)
    const underWay = [cache.check(), cache.flush()]
    cache.closeSync()
    const [checked, flushed] = await Promise.allSettled<unknown>(underWay)
    for (const [outcome, answer] of [
      [checked, { whole: 1, damaged: [], leases: 0 }],
      [flushed, undefined],
    ] as const) {
      if (outcome.status === 'fulfilled') expect(outcome.value).toEqual(answer)
      else expect(outcome.reason).toBeInstanceOf(Closed)
    }
  })
})

test('keys are found page by page, as the iteration goes on', () => {
  const cache = open()
  const expected = Array.from({ length: 500 }, (_, i) => `k${i}`)
  for (const key of expected) cache.setSync(key, 1)
  const iteration = cache.keys('k')
  const first = iteration.next().value as string
  expect(expected).toContain(first)
  for (const key of expected) if (key !== first) cache.deleteSync(key)
  // What was on the first page is told although it is gone; later pages are read later.
  expect([...iteration].length).toBeLessThan(500)
  expect([...cache.keys()]).toEqual([first])
})

describe('errors', () => {
  test('say their code, name and whether a retry helps', () => {
    const path = folder()
    mkdirSync(join(path, 'v2'), { recursive: true })
    writeFileSync(join(path, 'v2', 'users.ts'), '')
    const foreign = failure(() => new Cache({ path })) as ForeignDirectory
    expect(foreign).toBeInstanceOf(ForeignDirectory)
    expect(foreign).toBeInstanceOf(PolycacheError)
    expect([foreign.code, foreign.name, foreign.retryable]).toEqual([
      'foreign_directory',
      'ForeignDirectory',
      false,
    ])
    expect(String(foreign)).toContain('ForeignDirectory: ')
    expect(foreign.stack).toContain('ForeignDirectory: ')
  })

  test('carry sizes', () => {
    const tooLarge = failure(() => open().setSync('k', 'x'.repeat(2_000_000))) as EntryTooLarge
    expect(tooLarge).toBeInstanceOf(EntryTooLarge)
    expect(tooLarge.size).toBeGreaterThan(2_000_000)
    expect(tooLarge.limit).toBeGreaterThan(500_000)
    expect(tooLarge.limit).toBeLessThan(1_050_000)
  })
})

describe('options', () => {
  const invalid: [string, object][] = [
    ['neither path nor memory', { memory: false }],
    ['a limit without a path', { limit: '4MiB' }],
    ['an unknown option of the memory tier', { memory: { maxSize: 5 } }],
    ['an empty path', { path: '' }],
    ['an unknown option', { path: 'x', tll: '5m' }],
    ['a bare number for a ttl', { path: 'x', ttl: 300 }],
    ['a ttl with more than ms', { path: 'x', ttl: { ms: 1, s: 1 } }],
    ['a clock that is not a function', { path: 'x', clock: 5 }],
    ['a namespace of numbers', { path: 'x', namespace: [1] }],
    ['a maxValue that is not a size', { path: 'x', maxValue: 'much' }],
  ]
  test.each(invalid)('%s is refused', (_, options) => {
    expect(failure(() => new Cache(options as CacheOptions))).toBeInstanceOf(InvalidArgument)
  })

  test('an unknown option of a write is refused', async () => {
    const cache = open()
    const wrong = { tll: '5m' } as object
    expect(failure(() => cache.setSync('k', 1, wrong))).toBeInstanceOf(InvalidArgument)
    await expect(cache.getOrSet('k', () => 1, wrong)).rejects.toBeInstanceOf(InvalidArgument)
    await expect(cache.getOrSet('k', 5 as never)).rejects.toBeInstanceOf(InvalidArgument)
    expect(cache.getSync('k')).toBeUndefined()
  })

  test('maxValue bounds what is read, compressed or not', () => {
    const path = folder()
    open({ path, limit: '4MiB' }).setSync('plain', 'x'.repeat(2000))
    open({ path, limit: '4MiB', compressor: 'zstd' }).setSync('small', 'x'.repeat(2000))
    const cautious = open({ path, limit: '4MiB', maxValue: 1000 })
    for (const key of ['plain', 'small']) {
      const refusal = failure(() => cautious.getSync(key))
      expect(refusal, key).toMatchObject({ code: 'value_too_large', size: 2003, limit: 1000 })
    }
  })
})
