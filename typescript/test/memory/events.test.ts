/** Events of a MemoryCache: which, when, in which order, with what. */
import { describe, expect, test } from 'vitest'
import {
  InvalidArgument,
  type MemoryCache,
  type MemoryCacheEvents,
  type MemoryCacheOptions,
} from '../../src/memory/index.ts'
import { emitted } from '../support/emitted.ts'
import { failure } from '../support/failure.ts'
import { checkAfterEach, openMemory } from '../support/structure.ts'

type Any = ReturnType<typeof JSON.parse>
type Name = keyof MemoryCacheEvents<string, Any>

checkAfterEach()

const NAMES: readonly Name[] = [
  'hit',
  'miss',
  'set',
  'replaced',
  'deleted',
  'expired',
  'evicted',
  'cleared',
]

/** A cache, and all that it tells, as lists. */
function heard(options: MemoryCacheOptions<string, Any> = {}) {
  const open = openMemory<string, Any>(options)
  const told: unknown[][] = []
  for (const name of NAMES) open.cache.on(name, (...what) => told.push([name, ...what]))
  /** What was told since the last time. */
  return { ...open, told: () => told.splice(0) }
}

describe('what happens is told', () => {
  test('set, hit, miss', () => {
    const { cache, told } = heard()
    cache.set('a', 1)
    cache.set('a', 2)
    cache.get('a')
    cache.get('x')
    cache.getMany(['x', 'a'])
    expect(told()).toEqual([
      ['set', 'a', 1],
      ['replaced', 'a', 1],
      ['set', 'a', 2],
      ['hit', 'a', 2],
      ['miss', 'x'],
      ['miss', 'x'],
      ['hit', 'a', 2],
    ])
    cache.increment('a')
    cache.setMany([['b', null]])
    expect(told()).toEqual([
      ['replaced', 'a', 2],
      ['set', 'a', 3],
      ['set', 'b', null],
    ])
  })

  test('what is set again as it was does not leave', () => {
    const { cache, told } = heard({ isolation: 'none' })
    const value = { a: 1 }
    cache.set('k', value)
    cache.set('k', value)
    cache.set('k', { a: 1 })
    expect(told()).toEqual([
      ['set', 'k', value],
      ['set', 'k', value],
      ['replaced', 'k', value],
      ['set', 'k', value],
    ])
  })

  test('delete and take', () => {
    const { cache, told } = heard()
    cache.setMany([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ])
    told()
    cache.delete('a')
    cache.delete('a')
    cache.deleteMany(['b', 'x'])
    cache.take('c')
    cache.take('c')
    expect(told()).toEqual([
      ['deleted', 'a', 1],
      ['deleted', 'b', 2],
      ['hit', 'c', 3],
      ['deleted', 'c', 3],
      ['miss', 'c'],
    ])
  })

  test('clear, once, and nothing for each entry', () => {
    const { cache, told } = heard()
    cache.set('a', 1)
    told()
    cache.clear()
    cache[Symbol.dispose]()
    expect(told()).toEqual([['cleared'], ['cleared']])
  })

  test('nothing of what counts as no use', () => {
    const { cache, told } = heard()
    cache.set('a', 1)
    told()
    cache.peek('a')
    cache.peek('x')
    cache.has('a')
    cache.ttl('a')
    cache.entry('a')
    cache.touch('a', '1s')
    for (const _ of cache) cache.stats()
    expect(told()).toEqual([])
  })

  const FIND: [string, (cache: MemoryCache<string, Any>) => unknown, unknown[][]][] = [
    ['get', (cache) => cache.get('k'), [['miss', 'k']]],
    ['getMany', (cache) => cache.getMany(['k']), [['miss', 'k']]],
    ['take', (cache) => cache.take('k'), [['miss', 'k']]],
    ['peek', (cache) => cache.peek('k'), []],
    ['ttl', (cache) => cache.ttl('k'), []],
    ['delete', (cache) => cache.delete('k'), []],
    ['touch', (cache) => cache.touch('k'), []],
    ['increment', (cache) => cache.increment('k'), [['set', 'k', 1]]],
    ['purgeExpired', (cache) => cache.purgeExpired(), []],
  ]
  test.each(FIND)('%s tells once of what has expired, then of itself', (_, find, then) => {
    const { cache, clock, told } = heard()
    cache.set('k', { a: 1 }, { ttl: '1s' })
    told()
    clock.now += 1000
    cache.has('k')
    expect(told()).toEqual([])
    find(cache)
    expect(told()).toEqual([['expired', 'k', { a: 1 }], ...then])
    cache.get('x')
    expect(told()).toEqual([['miss', 'x']])
  })

  test('evictions in their order, then the set', () => {
    const { cache, told } = heard({ maxBytes: 3, weigher: (_, value) => value, policy: 'lru' })
    cache.setMany([
      ['a', 1],
      ['b', 1],
      ['c', 1],
    ])
    cache.get('a')
    told()
    cache.set('d', 2)
    expect(told()).toEqual([
      ['evicted', 'b', 1],
      ['evicted', 'c', 1],
      ['set', 'd', 2],
    ])
    expect(failure(() => cache.set('d', 4))).toBeInstanceOf(Error)
    expect(told()).toEqual([['deleted', 'd', 2]])
  })

  test('nothing of a write that is refused', () => {
    const { cache, told } = heard()
    cache.set('a', 'text')
    told()
    for (const write of [
      () => cache.set('a', undefined),
      () => cache.set('a', () => 1),
      () => cache.set('a', 1, { ttl: 5 } as never),
      () => cache.increment('a'),
      () => cache.touch('a', 5 as never),
    ]) {
      expect(failure(write)).toBeInstanceOf(Error)
    }
    expect(told()).toEqual([])
  })
})

describe('listeners', () => {
  test('are called when the operation is over', () => {
    const { cache, check } = openMemory<string, Any>({ maxEntries: 2, policy: 'lru' })
    const states: unknown[] = []
    const look = (name: string) => (key?: string) => {
      check()
      states.push([name, key, [...cache.keys()], cache.size, cache.stats().writes])
    }
    for (const name of NAMES) cache.on(name, look(name) as () => void)
    cache.set('a', 1)
    cache.set('b', 1)
    cache.set('c', 1)
    cache.delete('b')
    cache.take('c')
    cache.clear()
    expect(states).toEqual([
      ['set', 'a', ['a'], 1, 1],
      ['set', 'b', ['b', 'a'], 2, 2],
      ['evicted', 'a', ['c', 'b'], 2, 3],
      ['set', 'c', ['c', 'b'], 2, 3],
      ['deleted', 'b', ['c'], 1, 3],
      ['hit', 'c', [], 0, 3],
      ['deleted', 'c', [], 0, 3],
      ['cleared', undefined, [], 0, 3],
    ])
  })

  test('are given copies of their own', () => {
    const { cache, clock } = openMemory<string, Any>({ maxEntries: 1 })
    const change = (_: string, value: Any) => value.list.push('mine')
    for (const name of NAMES) if (name !== 'miss' && name !== 'cleared') cache.on(name, change)
    const value = { list: [1] }
    cache.set('k', value, { ttl: '1s' })
    expect([value, cache.get('k'), cache.peek('k')]).toEqual([value, { list: [1] }, { list: [1] }])
    expect(cache.take('k')).toEqual({ list: [1] })
    cache.set('k', value, { ttl: '1s' })
    clock.now += 1000
    cache.get('k')
    cache.set('k', value)
    cache.set('l', value)
    expect(value).toEqual({ list: [1] })
  })

  test('come in the order in which they were added, each as often as it was', () => {
    const { cache } = openMemory<string, Any>()
    const told: string[] = []
    const one = () => told.push('one')
    const two = () => told.push('two')
    expect(cache.on('set', one).on('set', two).on('set', one)).toBe(cache)
    cache.set('k', 1)
    expect(told.splice(0)).toEqual(['one', 'two', 'one'])
    expect(cache.off('set', one)).toBe(cache)
    cache.set('k', 1)
    expect(told.splice(0)).toEqual(['one', 'two'])
    cache.off('set', one)
    cache.off('set', one)
    cache.off('hit', one)
    cache.set('k', 1)
    expect(told.splice(0)).toEqual(['two'])
    cache.off('set', two)
    cache.set('k', 1)
    expect(told).toEqual([])
  })

  test('added or removed while one is told come into force with the next event', () => {
    const { cache } = openMemory<string, Any>()
    const told: string[] = []
    const second = () => told.push('second')
    const first = () => {
      told.push('first')
      cache.off('set', first)
      cache.off('set', second)
      cache.on('set', () => told.push('third'))
    }
    cache.on('set', first)
    cache.on('set', second)
    cache.set('k', 1)
    expect(told.splice(0)).toEqual(['first', 'second'])
    cache.set('k', 1)
    expect(told).toEqual(['third'])
  })

  test('may use the cache', () => {
    const { cache, check } = openMemory<string, Any>({ maxEntries: 3, policy: 'lru' })
    let depth = 0
    const use = () => {
      if (++depth > 50) return
      cache.set(`key ${depth % 7}`, depth, { ttl: '1s' })
      cache.get(`key ${depth % 5}`)
      cache.delete(`key ${depth % 3}`)
      if (depth % 11 === 0) cache.clear()
      check()
    }
    for (const name of NAMES) cache.on(name, use)
    cache.set('k', 1)
    cache.get('k')
    cache.get('x')
    expect(depth).toBeGreaterThan(50)
  })

  test('may put back what was evicted', () => {
    const { cache, check } = openMemory<string, Any>({ maxEntries: 2, policy: 'lru' })
    let left = 5
    cache.on('evicted', (key, value) => {
      if (left-- > 0) cache.set(key, value)
    })
    for (const key of ['a', 'b', 'c']) cache.set(key, key)
    check()
    expect([left, cache.size]).toEqual([-1, 2])
  })

  test.each(NAMES)('that throw on %s: the error is reported, and nobody else’s', (name) => {
    const codes = emitted()
    const { cache, clock, check } = openMemory<string, Any>({ maxEntries: 2, policy: 'lru' })
    cache.set('k', 1, { ttl: '1s' })
    const after: string[] = []
    cache.on(name, () => {
      throw new RangeError('mine')
    })
    cache.on(name, () => after.push('behind'))
    const causes: Record<Name, () => unknown> = {
      hit: () => cache.get('k'),
      miss: () => cache.get('x'),
      set: () => cache.set('l', 1),
      replaced: () => cache.set('k', 2),
      deleted: () => cache.delete('k'),
      expired: () => cache.get('k'),
      evicted: () => cache.setMany(['l', 'm'].map((key) => [key, 1])),
      cleared: () => cache.clear(),
    }
    if (name === 'expired') clock.now += 1000
    causes[name]()
    check()
    expect([after, codes]).toEqual([['behind'], ['listener_failed']])
    const left: Partial<Record<Name, string[]>> = { set: ['l', 'k'], evicted: ['m', 'l'] }
    const there = ['hit', 'miss', 'replaced'].includes(name) ? ['k'] : (left[name] ?? [])
    expect([...cache.keys()]).toEqual(there)
    expect(cache.stats().entries).toBe(there.length)
  })

  test('of one event are told nothing of another', () => {
    const { cache } = openMemory<string, Any>({ maxEntries: 1 })
    for (const name of NAMES) {
      const listener = () => {
        throw new Error(`${name} is not heard`)
      }
      cache.on(name, listener)
      cache.off(name, listener)
    }
    let evicted = 0
    cache.on('evicted', () => evicted++)
    cache.set('a', 1)
    cache.set('b', 1)
    cache.get('b')
    cache.get('x')
    cache.delete('b')
    cache.clear()
    expect(evicted).toBe(1)
  })

  test('that are none, and events that there are not', () => {
    const { cache } = openMemory()
    for (const listener of [undefined, null, 5, {}, 'get']) {
      expect(failure(() => cache.on('set', listener as never))).toBeInstanceOf(InvalidArgument)
    }
    for (const name of [
      'get',
      'constructor',
      '__proto__',
      'postpone',
      '',
      undefined,
      Symbol('s'),
    ]) {
      expect(failure(() => cache.on(name as never, () => {}))).toBeInstanceOf(InvalidArgument)
      expect(failure(() => cache.off(name as never, () => {}))).toBeInstanceOf(InvalidArgument)
    }
    cache.set('k', 1)
    expect(cache.get('k')).toBe(1)
  })

  test('an event without listeners costs no copy', () => {
    let copies = 0
    class Own {}
    const { cache, clock } = openMemory<string, Own>({
      maxEntries: 1,
      cloneInstance: () => {
        copies++
        return new Own()
      },
    })
    cache.on('miss', () => {})
    cache.set('a', new Own())
    cache.set('b', new Own())
    cache.delete('b')
    cache.set('c', new Own(), { ttl: '1s' })
    clock.now += 1000
    cache.purgeExpired()
    cache.clear()
    expect(copies).toBe(3)
  })
})
