/** peek, entry, touch, take, deletePrefix and their synchronous twins. What all languages share is in conformance. */
import { describe, expect, test } from 'vitest'
import { native } from '../src/host/native.ts'
import {
  Cache,
  type CacheOptions,
  Closed,
  InvalidKey,
  UnsupportedSerializer,
} from '../src/index.ts'
import { folder, open } from './support/caches.ts'
import { child } from './support/children.ts'
import { failure } from './support/failure.ts'
import { Clock } from './support/structure.ts'

type Any = ReturnType<typeof JSON.parse>

const DIRECTORIES: [string, Partial<CacheOptions>][] = [
  ['a directory with the memory tier', {}],
  ['a directory alone', { memory: false }],
  ['a directory, by native calls', { reader: 'native' }],
]
const CACHES: [string, (options?: Partial<CacheOptions>) => Cache][] = [
  ...DIRECTORIES.map(
    ([name, given]) =>
      [name, (options: Partial<CacheOptions> = {}) => open({ ...given, ...options })] as [
        string,
        (options?: Partial<CacheOptions>) => Cache,
      ],
  ),
  ['memory', (options) => new Cache(options)],
]

class User {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}
const types = {
  user: {
    class: User,
    encode: (user: User) => user.name,
    decode: (name: Any) => new User(name),
  },
}

describe.each(CACHES)('%s', (_, make) => {
  test('each twin does the same', async () => {
    const cache = make({ ttl: '5m', clock: () => 1_700_000_000_000 })
    for (const key of ['a', 'b', 'p1', 'p2', 'p3']) cache.setSync(key, { key })
    expect([cache.peekSync('a'), await cache.peek('a')]).toEqual([{ key: 'a' }, { key: 'a' }])
    expect(cache.entrySync('a')).toEqual(await cache.entry('a'))
    expect([cache.touchSync('a', '1h'), await cache.touch('a', '1h')]).toEqual([true, true])
    expect([cache.takeSync('a'), await cache.take('b')]).toEqual([{ key: 'a' }, { key: 'b' }])
    expect([cache.takeSync('a'), await cache.take('b')]).toEqual([undefined, undefined])
    cache.setSync('q', 1)
    expect([cache.deletePrefixSync('p'), await cache.deletePrefix('q')]).toEqual([3, 1])
    expect([...cache.keys()]).toEqual([])
  })

  test('each reader gets a value of its own, of registered types, too', () => {
    const cache = make({ types })
    cache.setSync('k', { list: [new User('Ada')] })
    const values = [0, 0, 0].map(() => cache.peekSync<Any>('k'))
    values.push(cache.entrySync<Any>('k')?.value, cache.getSync('k'), cache.peekSync('k'))
    values.push(cache.takeSync('k'))
    for (const value of values) {
      expect(value.list[0]).toBeInstanceOf(User)
      value.list.push('mine')
    }
    expect(new Set(values).size).toBe(7)
    expect(values.map(({ list }) => list.length)).toEqual(Array(7).fill(2))
  })

  test('peek and entry count nothing, take counts a hit or a miss, touch nothing', () => {
    const cache = make()
    cache.setSync('k', 1)
    for (const key of ['k', 'x']) {
      cache.peekSync(key)
      cache.entrySync(key)
      cache.touchSync(key)
    }
    expect(cache.statsSync()).toMatchObject({ hits: 0, memoryHits: 0, misses: 0, writes: 1 })
    cache.takeSync('k')
    cache.takeSync('k')
    expect(cache.statsSync()).toMatchObject({ hits: 1, misses: 1, writes: 1, deletes: 1 })
  })

  test('a decode that uses the cache during a take', () => {
    let again = true
    const cache: Cache = make({
      types: {
        user: {
          ...types.user,
          decode: (name: Any) => {
            if (again) {
              again = false
              cache.setSync('other', 1)
              // Another entry stands there now: it is looked at again.
              cache.setSync('k', new User('Bob'))
            }
            return new User(name)
          },
        },
      },
    })
    cache.setSync('k', new User('Ada'))
    const taken = cache.takeSync<User>('k')
    expect(taken?.name).toBe('Bob')
    expect(cache.getSync('other')).toBe(1)
  })

  test('a decode that throws leaves the entry', () => {
    let fails = true
    const cache = make({
      types: {
        user: {
          ...types.user,
          decode: (name: Any) => {
            if (fails) throw new RangeError('not now')
            return new User(name)
          },
        },
      },
    })
    cache.setSync('k', new User('Ada'))
    expect(failure(() => cache.takeSync('k'))).toMatchObject({ code: 'wrong_type' })
    expect(cache.statsSync().deletes).toBe(0)
    fails = false
    expect(cache.takeSync<User>('k')?.name).toBe('Ada')
  })

  test('a take during a load invalidates it, with a value and without', async () => {
    const cache = make()
    for (const there of [false, true]) {
      let end: (value: unknown) => void = () => {}
      const loading = cache.getOrSet('k', () => new Promise((resolve) => (end = resolve)))
      if (there) cache.setSync('k', 'set')
      expect(cache.takeSync('k')).toBe(there ? 'set' : undefined)
      end('loaded')
      expect([await loading, cache.getSync('k')]).toEqual(['loaded', undefined])
    }
  })

  test('wrong keys and a closed cache', async () => {
    const cache = make()
    for (const key of [5, null, undefined, '\ud800', {}] as Any[]) {
      for (const act of ['peekSync', 'entrySync', 'touchSync', 'takeSync', 'deletePrefixSync']) {
        expect(
          failure(() => (cache as Any)[act](key)),
          act,
        ).toBeInstanceOf(InvalidKey)
      }
    }
    cache.closeSync()
    for (const act of ['peek', 'entry', 'touch', 'take', 'deletePrefix']) {
      await expect((cache as Any)[act]('k'), act).rejects.toBeInstanceOf(Closed)
    }
  })

  test('deletePrefix takes bytes, and goes on over what is written meanwhile', () => {
    const cache = make()
    const bytes = Uint8Array.from([0xff, 1])
    cache.setManySync([
      [bytes, 1],
      [Uint8Array.from([0xff, 2]), 1],
      ['a', 1],
    ])
    expect(cache.deletePrefixSync(Uint8Array.from([0xff]))).toBe(2)
    expect([...cache.keys()]).toEqual(['a'])
    for (let key = 0; key < 500; key++) cache.setSync(`many ${key}`, key)
    expect(cache.deletePrefixSync('many ')).toBe(500)
    expect([...cache.keys()]).toEqual(['a'])
  })
})

describe('the entry of a cache in memory', () => {
  test('has no bytes, and says what is known', () => {
    const clock = new Clock()
    const cache = new Cache({ clock: clock.read })
    cache.setSync('k', 'v', { ttl: '5s' })
    clock.now += 1000
    expect(cache.entrySync('k')).toEqual({
      value: 'v',
      ttl: 4000,
      created: undefined,
      expires: clock.now + 4000,
      size: cache.statsSync().bytes,
      serializer: undefined,
      compressor: undefined,
      version: expect.any(BigInt),
    })
    clock.now += 4000
    expect(cache.entrySync('k')).toBeUndefined()
  })
})

describe.each(DIRECTORIES)('%s', (_, options) => {
  test('entry of a compressed one', () => {
    const clock = new Clock()
    const cache = open({ ...options, clock: clock.read, compressor: 'zstd', serializer: 'text' })
    cache.setSync('k', 'x'.repeat(10_000))
    const entry = cache.entrySync<string>('k')
    expect(entry).toMatchObject({
      ttl: Number.POSITIVE_INFINITY,
      created: clock.now,
      expires: undefined,
      serializer: 'text',
      compressor: 'zstd',
    })
    expect([entry?.value.length, (entry?.size as number) < 1000]).toEqual([10_000, true])
  })

  test('an entry that cannot be read stays, and a touch of it is like one of any', () => {
    const cache = open({ ...options })
    const { path } = cache
    const store = native().NativeStore.open({
      path: path as string,
      leaseTimeout: 1000,
      emptyAtBoot: false,
      flushEvery: 5000,
      manualClock: false,
    })
    // Rust's Bincode, which TypeScript does not read.
    const header = { serializer: 4, level: 0, created: Date.now(), expires: 0, tags: [] }
    const entry = native().encodeEntry(header, Uint8Array.from([1]))
    store.namespace([], 3, 0, 1000).putEntry(Buffer.from('k'), entry)
    store.close()
    expect(failure(() => cache.takeSync('k'))).toBeInstanceOf(UnsupportedSerializer)
    expect(failure(() => cache.peekSync('k'))).toBeInstanceOf(UnsupportedSerializer)
    expect([cache.touchSync('k', '1h'), cache.hasSync('k')]).toEqual([true, true])
  })

  test('what another process holds in memory is not served after a take or a touch here', async () => {
    const path = folder()
    const cache = open({ ...options, path, limit: '4MiB' })
    const other = child(path)
    cache.setSync('k', 'v')
    for (let turn = 0; turn < 3; turn++) expect(await other.call('get', 'k')).toBe('v')
    expect(cache.touchSync('k', '1h')).toBe(true)
    expect(await other.call('get', 'k')).toBe('v')
    expect(cache.takeSync('k')).toBe('v')
    expect(await other.call('get', 'k')).toBeNull()
    await other.call('set', 'k', 'theirs')
    expect([cache.peekSync('k'), cache.takeSync('k')]).toEqual(['theirs', 'theirs'])
  })
})

test('of many takers in several processes each value goes to one', async () => {
  const path = folder()
  const cache = open({ path, limit: '4MiB' })
  const others = [child(path), child(path)]
  const rounds = 300
  const keys = Array.from({ length: rounds }, (_, key) => `k${key}`)
  for (const key of keys) cache.setSync(key, key)
  const theirs = others.map((other) => other.call('takeAll', 'k', `${rounds}`))
  const own = keys.map((key) => cache.takeSync<string>(key)).filter((one) => one !== undefined)
  const all = [own, ...((await Promise.all(theirs)) as string[][])]
  expect(all.flat().sort()).toEqual([...keys].sort())
})
