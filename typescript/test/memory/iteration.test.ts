/** MemoryCache: going through what it holds, while that changes. */
import { describe, expect, test } from 'vitest'
import type { MemoryCache } from '../../src/memory/index.ts'
import { checkAfterEach, openMemory } from '../support/structure.ts'

type Any = ReturnType<typeof JSON.parse>

checkAfterEach()

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
    const { cache } = openMemory<string, number>({ maxBytes: 10, weigher: (_, value) => value })
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
      const { cache, clock, check } = openMemory<string, string>({ maxEntries })
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
      const rest = [next(), next(), next(), next(), next(), next()]
      expect(rest.filter((key) => key !== undefined)).toEqual(
        [...cache.keys()].filter((key) => key !== 'a'),
      )
      expect(rest.at(-1)).toBeUndefined()
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
    expect([...cache.keys()]).toEqual(['c', 'b'])
    expect(cache.stats()).toMatchObject({ hits: 0, misses: 0 })
  })
})
