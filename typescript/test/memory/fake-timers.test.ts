/** Test runners put a clock of theirs in the place of Date and of timers, often after a program's cache was made. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Cache } from '../../src/index.ts'
import { MemoryCache } from '../../src/memory/index.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe('a cache that was made before the fake clock', () => {
  let cache: MemoryCache
  beforeEach(() => {
    cache = new MemoryCache({ ttl: '1m' })
    cache.set('before', 1)
    for (let read = 0; read < 500; read++) cache.get('before')
    vi.useFakeTimers()
  })

  test('goes by it', () => {
    cache.set('k', 1)
    for (let read = 0; read < 500; read++) expect(cache.get('k')).toBe(1)
    vi.advanceTimersByTime(59_000)
    expect([cache.get('k'), cache.has('k')]).toEqual([1, true])
    vi.advanceTimersByTime(1001)
    expect([cache.get('k'), cache.get('before'), cache.size]).toEqual([undefined, undefined, 0])
  })

  test('is swept by it', () => {
    cache.set('k', 1, { ttl: '5s' })
    vi.advanceTimersByTime(10_000)
    expect(cache.size).toBe(1)
    vi.advanceTimersByTime(60_000)
    expect(cache.size).toBe(0)
  })

  test('goes by the system’s again when it is gone', () => {
    vi.advanceTimersByTime(3_600_000)
    cache.set('later', 1)
    vi.useRealTimers()
    cache.set('k', 1)
    expect(cache.get('k')).toBe(1)
    expect(cache.ttl('k')).toBeGreaterThan(0)
    expect(cache.ttl('k')).toBeLessThanOrEqual(60_000)
  })

  test('goes by a time that is set', () => {
    cache.set('k', 1)
    expect(cache.get('k')).toBe(1)
    const began = Date.now()
    const fake = vi.spyOn(Date, 'now').mockReturnValue(began + 59_999)
    expect(cache.get('k')).toBe(1)
    fake.mockReturnValue(began + 60_000)
    expect(cache.get('k')).toBeUndefined()
  })
})

test('a cache without a directory goes by it', async () => {
  const cache = new Cache({ ttl: '1m' })
  for (let read = 0; read < 100; read++) await cache.getOrSet('k', () => 1)
  vi.useFakeTimers()
  await cache.set('k', 2)
  vi.advanceTimersByTime(59_999)
  expect(await cache.get('k')).toBe(2)
  vi.advanceTimersByTime(1)
  expect(await cache.get('k')).toBeUndefined()
})

test('a clock of its own goes before it', () => {
  let now = 1000
  const cache = new MemoryCache({ ttl: '1m', clock: () => now })
  vi.useFakeTimers()
  cache.set('k', 1)
  vi.advanceTimersByTime(3_600_000)
  expect(cache.get('k')).toBe(1)
  now += 60_000
  expect(cache.get('k')).toBeUndefined()
})
