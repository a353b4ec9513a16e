/** The option jitter: by how much a default time to live is shortened. */
import { describe, expect, test } from 'vitest'
import { Cache, InvalidArgument } from '../src/index.ts'
import { Lifetime } from '../src/lifetime.ts'
import { open } from './support/caches.ts'
import { failure } from './support/failure.ts'

type Any = ReturnType<typeof JSON.parse>

/** Runs with another source of random numbers. */
function withRandom<R>(numbers: readonly number[], run: () => R): R {
  const { random } = Math
  let drawn = 0
  Math.random = () => numbers[drawn++ % numbers.length]
  try {
    return run()
  } finally {
    Math.random = random
  }
}

const ALMOST_1 = 1 - 2 ** -53

describe('a lifetime', () => {
  test('is between the time to live and that less the jitter, each as likely', () => {
    const seen = (random: number) => new Lifetime(1000, 3, () => random).next()
    expect([0, 0.2499, 0.25, 0.5, 0.75, ALMOST_1].map(seen)).toEqual([
      1000, 1000, 999, 998, 997, 997,
    ])
  })

  test('without a jitter draws nothing', () => {
    const none = () => {
      throw new Error('drawn')
    }
    expect([new Lifetime(0, 0, none).next(), new Lifetime(500, 0, none).next()]).toEqual([0, 500])
  })

  test.each([
    [0.1, 900],
    [0.5, 500],
    [0.999, 1],
    [0, 1000],
    ['250ms', 750],
    [{ ms: 999 }, 1],
  ])('jitter %j of a second is at most until %i ms', (jitter, shortest) => {
    const lifetime = withRandom([ALMOST_1], () => Lifetime.of(1000, jitter))
    expect(withRandom([ALMOST_1], () => lifetime.next())).toBe(shortest)
  })
})

const CACHES: [string, (options: Any) => Cache][] = [
  ['a cache over a directory', (options) => open(options)],
  ['a cache in memory', (options) => new Cache(options)],
]

describe.each(CACHES)('%s', (_, make) => {
  const now = 1_700_000_000_000
  const clock = () => now

  test('shortens its own time to live, for each write, and no other one', async () => {
    await withRandom([0, 0.5, ALMOST_1], async () => {
      const cache = make({ ttl: '10s', jitter: 0.2, clock })
      for (const key of ['a', 'b', 'c']) cache.setSync(key, 1)
      const left = (keys: string) => [...keys].map((key) => cache.ttlSync(key))
      expect(left('abc')).toEqual([10_000, 9000, 8000])
      cache.setSync('d', 1, { ttl: '9s' })
      cache.setSync('e', 1, { ttl: null })
      await cache.getOrSet('f', () => 1)
      await cache.getOrSetMany(['g', 'h'], (keys) => keys.map((key) => [key, 1] as const))
      cache.touchSync('a')
      expect(left('defgha')).toEqual([9000, Number.POSITIVE_INFINITY, 10_000, 9000, 8000, 10_000])
      cache.getOrSetSync('i', () => 1, {})
      expect(left('i')).toEqual([9000])
      expect(cache.namespace('n').hasSync('a')).toBe(false)
    })
  })

  test.each([
    ['without a ttl', { jitter: 0.1 }],
    ['with a ttl of none', { ttl: null, jitter: 0.1 }],
    ['all of it', { ttl: '1s', jitter: 1 }],
    ['below 0', { ttl: '1s', jitter: -0.1 }],
    ['NaN', { ttl: '1s', jitter: Number.NaN }],
    ['a bare number of milliseconds', { ttl: '1s', jitter: 100 }],
    ['as long as the ttl', { ttl: '1s', jitter: '1s' }],
    ['text that is none', { ttl: '1s', jitter: 'much' }],
    ['true', { ttl: '1s', jitter: true }],
    ['null', { ttl: '1s', jitter: null }],
  ])('refuses a jitter %s', (_, options) => {
    expect(failure(() => make(options))).toBeInstanceOf(InvalidArgument)
  })
})
