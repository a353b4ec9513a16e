/** MemoryCache: how many entries and bytes it holds. Which ones leave is in policies.test.ts. */
import { describe, expect, test } from 'vitest'
import { EntryTooLarge, InvalidArgument } from '../../src/memory/index.ts'
import { failure } from '../support/failure.ts'
import { checkAfterEach, openMemory } from '../support/structure.ts'

type Any = ReturnType<typeof JSON.parse>

checkAfterEach()

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
      weigher: (_, value) => value,
      policy: 'lru',
    })
    for (const key of ['a', 'b', 'c']) cache.set(key, 30)
    cache.set('a', 40)
    expect([...cache]).toEqual([
      ['a', 40],
      ['c', 30],
      ['b', 30],
    ])
    cache.set('b', 31)
    check()
    expect([...cache]).toEqual([
      ['b', 31],
      ['a', 40],
    ])
    cache.set('b', 100)
    check()
    expect([...cache]).toEqual([['b', 100]])
    cache.set('b', 1)
    expect(cache.bytes).toBe(1)
    expect(cache.stats().evicted).toBe(2)
  })

  test('what is heavier than the bound is refused, and the old value is gone', () => {
    const { cache } = openMemory<string, number>({ maxBytes: 100, weigher: (_, value) => value })
    const heard: unknown[] = []
    cache.on('deleted', (...told) => heard.push(told))
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

  test('a weigher is given key and value, and may say 0', () => {
    const seen: unknown[] = []
    const { cache } = openMemory<string, number>({
      maxBytes: 1,
      weigher: (key, value) => {
        seen.push([key, value])
        return 0
      },
    })
    for (let key = 0; key < 50; key++) cache.set(`${key}`, key)
    expect([cache.size, cache.bytes, seen[7]]).toEqual([50, 0, ['7', 7]])
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
