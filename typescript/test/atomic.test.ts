/** add, replace, compareAndSet, update, increment and their synchronous twins. What all languages share is in conformance. */
import { describe, expect, test } from 'vitest'
import {
  Cache,
  type CacheOptions,
  Closed,
  Conflict,
  DELETE,
  InvalidArgument,
  LEAVE,
  UnsupportedValue,
  WrongType,
} from '../src/index.ts'
import { open } from './support/caches.ts'
import { child } from './support/children.ts'
import { failure } from './support/failure.ts'

type Any = ReturnType<typeof JSON.parse>
type Make = (options?: Partial<CacheOptions>) => Cache

const CACHES: [string, Make][] = [
  ['a directory with the memory tier', open],
  ['a directory alone', (options) => open({ ...options, memory: false })],
  ['a directory, by native calls', (options) => open({ ...options, reader: 'native' })],
  ['memory', (options) => new Cache(options)],
]

describe.each(CACHES)('%s', (_, make) => {
  test('each twin does the same', async () => {
    const cache = make()
    expect([cache.addSync('a', 1), await cache.add('a', 2)]).toEqual([true, false])
    expect([cache.replaceSync('a', 3), await cache.replace('b', 3)]).toEqual([true, false])
    const { version } = cache.entrySync('a')!
    expect(await cache.compareAndSet('a', version, 4)).toBe(true)
    expect(cache.compareAndSetSync('a', version, 5)).toBe(false)
    expect([cache.incrementSync('a'), await cache.increment('a', 2n)]).toEqual([5, 7])
    expect([cache.decrementSync('a', 3), await cache.decrement('a')]).toEqual([4, 3])
    const more = (value: number | undefined) => (value ?? 0) + 1
    expect([cache.updateSync('a', more), await cache.update('a', more)]).toEqual([4, 5])
    expect(await cache.update('a', async (value: number | undefined) => value! + 1)).toBe(6)
    expect(cache.updateSync('a', () => LEAVE)).toBeUndefined()
    expect(cache.getSync('a')).toBe(6)
    expect(cache.updateSync('a', () => DELETE)).toBeUndefined()
    expect(cache.hasSync('a')).toBe(false)
  })

  test('sums beyond 2^53 are bigints', () => {
    const cache = make()
    expect(cache.incrementSync('k', 1, { initial: Number.MAX_SAFE_INTEGER })).toBe(2n ** 53n)
    expect(cache.getSync('k')).toBe(2n ** 53n)
    expect(cache.decrementSync('k', 1)).toBe(Number.MAX_SAFE_INTEGER)
    expect(cache.getSync('k')).toBe(Number.MAX_SAFE_INTEGER)
    // A number that is not exact is none of 64 bits.
    expect(failure(() => cache.incrementSync('k', 2 ** 53))).toBeInstanceOf(InvalidArgument)
    cache.setSync('k', 2 ** 53)
    expect(failure(() => cache.incrementSync('k'))).toBeInstanceOf(WrongType)
    cache.setSync('k', -0)
    expect(failure(() => cache.incrementSync('k'))).toBeInstanceOf(WrongType)
  })

  test('wrong arguments change nothing', async () => {
    const cache = make()
    cache.setSync('k', 'v')
    const { version } = cache.entrySync('k')!
    const wrong: [string, () => unknown][] = [
      ['version', () => cache.compareAndSetSync('k', 1 as Any, 'w')],
      ['version', () => cache.compareAndSetSync('k', -1n, 'w')],
      ['version', () => cache.compareAndSetSync('k', 2n ** 64n, 'w')],
      ['function', () => cache.updateSync('k', 'w' as Any)],
      ['promise', () => cache.updateSync('k', (async () => 'w') as Any)],
      ['no option', () => cache.updateSync('k', () => 'w', { initial: 1 } as Any)],
      ['no option', () => cache.incrementSync('k', 1, { by: 1 } as Any)],
      ['no option', () => cache.addSync('l', 'w', { expires: new Date() } as Any)],
      ['valid Date', () => cache.setSync('k', 'w', { expiresAt: new Date(Number.NaN) })],
      ['valid Date', () => cache.setSync('k', 'w', { expiresAt: Date.now() as Any })],
      ['exclude', () => cache.touchSync('k', { ttl: '1s', expiresAt: new Date() } as Any)],
    ]
    for (const [message, call] of wrong) {
      const error = failure(call)
      expect(error, message).toBeInstanceOf(InvalidArgument)
      expect((error as Error).message).toContain(message)
    }
    // A function that forgets to return.
    expect(failure(() => cache.updateSync('k', (() => {}) as Any))).toBeInstanceOf(UnsupportedValue)
    await expect(cache.update('k', (async () => {}) as Any)).rejects.toBeInstanceOf(
      UnsupportedValue,
    )
    expect(failure(() => cache.addSync('l', () => 1))).toBeInstanceOf(UnsupportedValue)
    expect(cache.entrySync('k')).toMatchObject({ value: 'v', version })
    expect(cache.hasSync('l')).toBe(false)
  })

  test('an update gives what a get gives, and no part of the cache', () => {
    const cache = make()
    const given = { list: [1] }
    const stored = cache.updateSync('k', () => given)!
    given.list.push(2)
    stored.list.push(3)
    expect(cache.getSync('k')).toEqual({ list: [1] })
    cache.updateSync('k', (value: typeof given | undefined) => {
      value!.list.push(4)
      return LEAVE
    })
    expect(cache.getSync('k')).toEqual({ list: [1] })
    expect(cache.updateSync<unknown>('k', () => new Map([['a', 1n]]))).toEqual({ a: 1 })
  })

  test('code of the value that is stored may use the cache', () => {
    const cache = make()
    const meanwhile = (change: () => void) => ({
      get a() {
        change()
        return 'mine'
      },
    })
    const set = meanwhile(() => cache.setSync('k', 'theirs'))
    expect(cache.addSync('k', set)).toBe(false)
    expect(cache.getSync('k')).toBe('theirs')
    const remove = meanwhile(() => cache.deleteSync('k'))
    expect(cache.replaceSync('k', remove)).toBe(false)
    expect(cache.hasSync('k')).toBe(false)
    cache.setSync('k', 'v')
    const { version } = cache.entrySync('k')!
    expect(cache.compareAndSetSync('k', version, set)).toBe(false)
    let calls = 0
    expect(cache.updateSync('k', () => (calls++ === 0 ? set : 'mine'))).toBe('mine')
    expect(calls).toBe(2)
    const close = meanwhile(() => cache.closeSync())
    expect(failure(() => cache.replaceSync('k', close))).toBeInstanceOf(Closed)
  })

  test('updates that wait in between overtake each other, and none is lost', async () => {
    const cache = make()
    const append = (name: string) =>
      cache.update('k', async (list: string[] = []) => {
        await null
        return [...list, name]
      })
    await Promise.all(['a', 'b', 'c', 'd'].map(append))
    expect(cache.getSync<string[]>('k')!.toSorted()).toEqual(['a', 'b', 'c', 'd'])
  })

  test('an update that never comes first is a conflict', async () => {
    const cache = make()
    let calls = 0
    const overtaken = cache.update('k', async () => {
      cache.setSync('k', ++calls)
      return 'mine'
    })
    const error = await overtaken.catch((error: unknown) => error)
    expect(error).toBeInstanceOf(Conflict)
    expect((error as Conflict).retryable).toBe(true)
    expect([calls, cache.getSync('k')]).toEqual([100, 100])
  })

  test('what was read is not served after a change by another view', () => {
    const cache = make({ namespace: 'a' })
    const other = cache.namespace('b')
    const mine = cache.namespace('b')
    for (const change of [
      () => other.replaceSync('k', { n: 1 }),
      () => other.updateSync('k', () => ({ n: 1 })),
      () => other.compareAndSetSync('k', other.entrySync('k')!.version, { n: 1 }),
    ]) {
      mine.setSync('k', { n: 0 })
      expect([mine.getSync('k'), mine.getSync('k')]).toEqual([{ n: 0 }, { n: 0 }])
      change()
      expect([mine.getSync('k'), mine.getSync('k')]).toEqual([{ n: 1 }, { n: 1 }])
    }
  })

  test('long lists of keys: every form of key, and what is no key', () => {
    const cache = make()
    const keys: (string | Uint8Array)[] = []
    for (let key = 0; key < 1500; key++) keys.push(key % 3 === 0 ? `é${key}` : `key ${key}`)
    keys[7] = 'x'.repeat(5000)
    keys[11] = Uint8Array.of(0, 255)
    keys[13] = ''
    for (const [place, key] of keys.entries()) if (place % 4 !== 0) cache.setSync(key, place)
    const expected = [...keys.entries()].filter(([place]) => place % 4 !== 0)
    for (let turn = 0; turn < 2; turn++) {
      const found = cache.getManySync(keys)
      expect([...found]).toEqual(expected.map(([place, key]) => [key, place]))
    }
    expect(cache.getManySync(new Set(keys)).size).toBe(expected.length)
    expect(failure(() => cache.getManySync([...keys, 1 as Any]))).toMatchObject({
      code: 'invalid_key',
    })
    cache.closeSync()
    expect(failure(() => cache.getManySync(keys))).toBeInstanceOf(Closed)
  })
})

describe('a cache in memory', () => {
  test('what has no room changes nothing', () => {
    const cache = new Cache({ memory: { maxBytes: 2000 } })
    cache.setSync('k', 'v')
    const large = 'x'.repeat(3000)
    for (const call of [
      () => cache.addSync('l', large),
      () => cache.replaceSync('k', large),
      () => cache.updateSync('k', () => large),
    ]) {
      expect(failure(call)).toMatchObject({ code: 'entry_too_large' })
      expect(cache.getSync('k')).toBe('v')
    }
  })

  test('a version does not come back after entries left', () => {
    const cache = new Cache()
    const seen = new Set<bigint>()
    for (let turn = 0; turn < 300; turn++) {
      cache.setSync(`k${turn % 200}`, 'v')
      seen.add(cache.entrySync(`k${turn % 200}`)!.version)
      if (turn % 7 === 0) cache.deleteSync(`k${turn % 200}`)
      if (turn % 50 === 0) cache.clearSync()
    }
    expect(seen.size).toBe(300)
  })
})

test('increments with a serializer that has no integers', () => {
  const cache = open({ serializer: 'text' })
  expect(failure(() => cache.incrementSync('k'))).toMatchObject({
    code: 'unsupported_value',
    path: '$',
  })
  cache.setSync('k', '1')
  expect(failure(() => cache.incrementSync('k'))).toMatchObject({ code: 'wrong_type', path: '$' })
})

describe('counts are not lost', () => {
  const EACH = 2000

  test('of four processes', async () => {
    const cache = open()
    const children = Array.from({ length: 4 }, () => child(cache.path!))
    const sums = await Promise.all(children.map((one) => one.call('count', 'k', String(EACH))))
    expect(new Set((sums as number[][]).flat()).size).toBe(4 * EACH)
    expect(cache.getSync('k')).toBe(4 * EACH)
    const lists = children.map((one) => one.call('append', 'list', '50'))
    await Promise.all(lists)
    expect(new Set(cache.getSync<string[]>('list')).size).toBe(200)
  })
})
