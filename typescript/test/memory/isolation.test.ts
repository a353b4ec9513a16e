/** MemoryCache: copies, frozen copies, or the objects themselves. */
import { describe, expect, test } from 'vitest'
import { type MemoryCache, UnsupportedValue } from '../../src/memory/index.ts'
import { failure } from '../support/failure.ts'
import { checkAfterEach, openMemory } from '../support/structure.ts'

type Any = ReturnType<typeof JSON.parse>

checkAfterEach()

describe('isolation', () => {
  const GIVEN: [string, (cache: MemoryCache<string, Any>) => Any][] = [
    ['get', (cache) => cache.get('k')],
    ['peek', (cache) => cache.peek('k')],
    ['entry', (cache) => cache.entry('k')?.value],
    ['getMany', (cache) => cache.getMany(['k']).get('k')],
    ['values', (cache) => [...cache.values()][0]],
    ['entries', (cache) => [...cache][0][1]],
    ['take', (cache) => cache.take('k')],
  ]
  const graph = () => ({ list: [1, { deep: true }], at: new Date(5), map: new Map([['a', [1]]]) })

  test.each(GIVEN)('clone: %s gives a copy each time', (_, read) => {
    const { cache } = openMemory<string, Any>()
    const value = graph()
    cache.set('k', value)
    value.list.push(2)
    value.at.setTime(6)
    const one = read(cache)
    expect(one).toEqual(graph())
    one.list[1].deep = false
    one.map.get('a').push(2)
    if (cache.has('k')) expect(cache.get('k')).toEqual(graph())
  })

  test('clone: what is stored is a copy', () => {
    const { cache } = openMemory<string, Any>()
    const value = graph()
    cache.set('k', value)
    value.list.length = 0
    value.map.clear()
    value.at.setTime(9)
    expect(cache.get('k')).toEqual(graph())
    expect(cache.get('k')).not.toBe(cache.get('k'))
  })

  test.each(GIVEN)('freeze: %s gives the same frozen copy', (_, read) => {
    const { cache } = openMemory<string, Any>({ isolation: 'freeze' })
    const value = { list: [1, { deep: true }] }
    cache.set('k', value)
    const stored = cache.peek('k')
    const one = read(cache)
    expect(one).toBe(stored)
    expect(one).not.toBe(value)
    expect(Object.isFrozen(value)).toBe(false)
    expect([Object.isFrozen(one), Object.isFrozen(one.list[1])]).toEqual([true, true])
  })

  test.each(GIVEN)('none: %s gives what was stored', (_, read) => {
    const { cache } = openMemory<string, Any>({ isolation: 'none' })
    const value = { run: () => 1, self: null as Any }
    value.self = value
    cache.set('k', value)
    expect(read(cache)).toBe(value)
  })

  test('what has no copy is refused, and nothing changes', () => {
    for (const [isolation, value] of [
      ['clone', () => 1],
      ['clone', { a: [Symbol('s')] }],
      ['clone', new WeakMap()],
      ['freeze', new Map()],
      ['freeze', { at: new Date() }],
    ] as const) {
      const { cache } = openMemory<string, Any>({ isolation })
      cache.set('k', 'old', { ttl: '1s' })
      expect(failure(() => cache.set('k', value))).toBeInstanceOf(UnsupportedValue)
      expect([cache.get('k'), cache.ttl('k'), cache.stats().writes]).toEqual(['old', 1000, 1])
    }
  })

  test('a getter that throws, or uses the cache', () => {
    const { cache, check } = openMemory<string, Any>({ maxEntries: 2 })
    const throwing = {
      get a() {
        throw new RangeError('mine')
      },
    }
    expect(failure(() => cache.set('k', throwing))).toBeInstanceOf(RangeError)
    expect(cache.size).toBe(0)
    const using = {
      get a() {
        cache.set('k', { list: [1] })
        cache.set('b', [[1]])
        cache.clear()
        cache.set('c', 1)
        return 'outer'
      },
    }
    cache.set('k', using)
    check()
    expect([...cache]).toEqual([
      ['c', 1],
      ['k', { a: 'outer' }],
    ])
  })

  class Point {
    x: number
    constructor(x: number) {
      this.x = x
    }
  }

  test('cloneInstance copies instances in and out', () => {
    const { cache } = openMemory<string, Point>({
      cloneInstance: (it) => new Point((it as Point).x),
    })
    const point = new Point(1)
    cache.set('k', point)
    point.x = 2
    const one = cache.get('k') as Point
    expect(one).toBeInstanceOf(Point)
    expect(one.x).toBe(1)
    one.x = 3
    expect(cache.get('k')?.x).toBe(1)
    const { cache: without } = openMemory<string, Point>()
    expect(failure(() => without.set('k', point))).toBeInstanceOf(UnsupportedValue)
  })

  // It runs whenever a value is handed out: to a caller, or to a listener in the middle of an eviction.
  test.each(['throws', 'clears', 'sets', 'deletes'])(
    'a cloneInstance that %s at a read',
    (what) => {
      let armed = false
      const { cache, check, clock } = openMemory<string, Any>({
        maxEntries: 2,
        policy: 'lru',
        cloneInstance: (it) => {
          if (armed) {
            armed = false
            if (what === 'throws') throw new RangeError('mine')
            if (what === 'clears') cache.clear()
            if (what === 'sets') for (const key of ['x', 'y', 'k']) cache.set(key, key)
            if (what === 'deletes') for (const key of ['k', 'l', 'm']) cache.delete(key)
            armed = true
          }
          return new Point((it as Point).x)
        },
      })
      const told: unknown[] = []
      for (const event of ['hit', 'set', 'deleted', 'evicted', 'expired'] as const) {
        cache.on(event, (key, value) => told.push([event, key, value]))
      }
      const uses: [string, () => unknown][] = [
        ['get', () => cache.get('k')],
        ['take', () => cache.take('k')],
        ['deleted', () => cache.delete('k')],
        ['evicted', () => cache.set('m', 1)],
        ['replace', () => cache.set('k', 1)],
        ['entries', () => [...cache]],
        ['purge', () => cache.purgeExpired()],
      ]
      for (const [name, use] of uses) {
        armed = false
        cache.clear()
        cache.set('k', new Point(1), { ttl: '1s' })
        cache.set('l', new Point(2), { ttl: '1s' })
        if (name === 'purge') clock.now += 1000
        armed = true
        const error = failure(use)
        expect(error === undefined || error instanceof RangeError, name).toBe(true)
        check()
      }
      expect(told.length).toBeGreaterThan(0)
    },
  )
})
