/** MemoryCache: what it refuses. */
import { describe, expect, test } from 'vitest'
import {
  InvalidArgument,
  InvalidKey,
  MemoryCache,
  type MemoryCacheOptions,
  PolycacheError,
  type UnsupportedValue,
} from '../../src/memory/index.ts'
import { failure } from '../support/failure.ts'
import { checkAfterEach, openMemory } from '../support/structure.ts'

type Any = ReturnType<typeof JSON.parse>

checkAfterEach()

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
    ['a bare number to idle', { timeToIdle: 5 }],
    ['a time to idle of 0', { timeToIdle: '0s' }],
    ['a time to idle that is too long', { timeToIdle: { ms: 2 ** 48 } }],
    ['true as a time to idle', { timeToIdle: true }],
    ['a weigher that is not a function', { weigher: 5 }],
    ['a clock that is not a function', { clock: 5 }],
    ['a cloneInstance that is not a function', { cloneInstance: {} }],
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
      options === null || typeof options !== 'object' || 'ttl' in options || 'timeToIdle' in options
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
    cache.set('k', 1, { timeToIdle: undefined, ttl: undefined } as Any)
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
