/** The option removalListener: what leaves, why, and when that is told. */
import { describe, expect, test } from 'vitest'
import { EntryTooLarge, type MemoryCacheOptions } from '../../src/memory/index.ts'
import { emitted } from '../support/emitted.ts'
import { failure } from '../support/failure.ts'
import { checkAfterEach, openMemory } from '../support/structure.ts'

type Any = ReturnType<typeof JSON.parse>

checkAfterEach()

describe('removalListener', () => {
  function listening(options: MemoryCacheOptions<string, Any> = {}) {
    const gone: unknown[][] = []
    const removalListener = (...what: unknown[]) => gone.push(what)
    const open = openMemory<string, Any>({
      isolation: 'none',
      policy: 'lru',
      removalListener,
      ...options,
    })
    return { ...open, gone: () => gone.splice(0) }
  }

  test('hears of every value that leaves, with the cause', () => {
    const { cache, clock, gone } = listening({ maxEntries: 2 })
    const [a, b] = [{ a: 1 }, { b: 1 }]
    cache.set('a', a)
    cache.set('a', a)
    cache.set('a', b)
    expect(gone()).toEqual([['a', a, 'replaced']])
    cache.set('b', 1)
    cache.set('c', 1, { ttl: '1s' })
    expect(gone()).toEqual([['a', b, 'evicted']])
    cache.take('b')
    clock.now += 1000
    cache.get('c')
    expect(gone()).toEqual([
      ['b', 1, 'deleted'],
      ['c', 1, 'expired'],
    ])
    cache.set('d', 1)
    cache.set('e', 2)
    cache.pop()
    cache.clear()
    expect(gone()).toEqual([
      ['d', 1, 'evicted'],
      ['e', 2, 'cleared'],
    ])
    cache.clear()
    expect(gone()).toEqual([])
  })

  test('is told once of a value that a refused write took away', () => {
    const { cache, gone } = listening({ maxBytes: 10, weigher: (_, value) => value })
    cache.set('k', 1)
    expect(failure(() => cache.set('k', 11))).toBeInstanceOf(EntryTooLarge)
    expect(gone()).toEqual([['k', 1, 'deleted']])
  })

  test('runs when the operation is done, and may use the cache', () => {
    const told: unknown[] = []
    const { cache, check } = listening({
      removalListener: (key, value, cause) => {
        check()
        told.push([key, value, cause, cache.peek(key)])
        if (value === 1) cache.set('more', 3)
      },
    })
    cache.set('k', 1)
    cache.set('k', 2)
    expect(told).toEqual([['k', 1, 'replaced', 2]])
    expect(cache.get('more')).toBe(3)
    cache.clear()
    expect(told.slice(1)).toEqual([
      ['k', 2, 'cleared', undefined],
      ['more', 3, 'cleared', undefined],
    ])
  })

  test('hears after the listeners of the event, with a copy of its own; what it throws is reported', () => {
    const codes = emitted()
    const told: unknown[] = []
    const { cache } = openMemory<string, Any>({
      removalListener: (_, value) => {
        told.push(['removal', [...value]])
        value.push('mine')
        throw new RangeError('mine')
      },
    })
    cache.on('deleted', (_, value) => {
      told.push(['deleted', [...value]])
      value.push('mine')
    })
    cache.set('k', [1])
    expect([cache.delete('k'), codes]).toEqual([true, ['listener_failed']])
    expect([told, cache.has('k')]).toEqual([
      [
        ['deleted', [1]],
        ['removal', [1]],
      ],
      false,
    ])
  })

  test('what it throws is the error of no load, neither of its caller nor of those who joined', async () => {
    const codes = emitted()
    const removalListener = () => {
      throw new RangeError('mine')
    }
    const { cache } = openMemory<string, Any>({ maxEntries: 1, removalListener })
    cache.set('k', 1)
    const loads = [1, 2].map(() => cache.getOrSet('a', async () => 'loaded'))
    expect(await Promise.all(loads)).toEqual(['loaded', 'loaded'])
    expect([codes.length, cache.get('a'), cache.stats().unstored]).toEqual([1, 'loaded', 0])
    cache.setMany([
      ['b', 2],
      ['c', 3],
    ])
    expect([codes.length, cache.get('c')]).toEqual([3, 3])
  })

  test('an asynchronous one that fails is reported too', async () => {
    const codes = emitted()
    const { cache } = openMemory<string, Any>({
      removalListener: async () => {
        throw Object.create(null)
      },
    })
    cache.set('k', 1)
    expect([cache.delete('k'), codes]).toEqual([true, []])
    await Promise.resolve()
    await Promise.resolve()
    expect(codes).toEqual(['listener_failed'])
  })

  test('of a value that has no copy hears nothing, and the operation goes on', () => {
    const codes = emitted()
    const told: unknown[] = []
    class Point {}
    const { cache } = openMemory<string, Any>({
      removalListener: (...what) => void told.push(what),
      cloneInstance: () => {
        if (copies-- > 0) return new Point()
        throw new RangeError('mine')
      },
    })
    let copies = 1
    cache.set('k', new Point())
    expect([cache.delete('k'), told, codes]).toEqual([true, [], ['listener_failed']])
  })

  test('hears of what has expired when it leaves, and the event is told once', () => {
    const { cache, clock, gone } = listening({ ttl: '1s', deleteOnExpire: false })
    const told: unknown[] = []
    cache.on('expired', (key) => told.push(key))
    cache.set('k', 1)
    clock.now += 1000
    cache.get('k')
    expect([told, gone()]).toEqual([['k'], []])
    cache.purgeExpired()
    expect([told, gone(), cache.stats().expired]).toEqual([['k'], [['k', 1, 'expired']], 1])
  })

  test('does not hear of reads, which stay as fast', () => {
    const { cache, gone } = listening()
    cache.set('k', 1)
    cache.get('k')
    expect(gone()).toEqual([])
  })
})
