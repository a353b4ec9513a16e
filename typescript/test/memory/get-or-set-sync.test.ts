/** MemoryCache.getOrSetSync: loaders that give their values at once. */
import { describe, expect, test } from 'vitest'
import { InvalidArgument, type MemoryStatus } from '../../src/memory/index.ts'
import { checkAfterEach, openMemory } from '../support/structure.ts'

type Any = ReturnType<typeof JSON.parse>

checkAfterEach()

/** A loader that waits to be told what it loads. */
class Load {
  count = 0
  seen: Any
  end!: (value: Any) => void
  fail!: (error: unknown) => void
  readonly loader = (context: Any): Promise<Any> => {
    this.count++
    this.seen = context
    return new Promise((resolve, reject) => {
      this.end = resolve
      this.fail = reject
    })
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

describe('getOrSetSync', () => {
  test('makes what is not there, at once', () => {
    const { cache, clock } = openMemory<string, Any>({ ttl: '1s', deleteOnExpire: false })
    const seen: unknown[] = []
    const make = (context: Any) => {
      seen.push([context.key, context.stale, context.context])
      return seen.length
    }
    expect([cache.getOrSetSync('k', make), cache.getOrSetSync('k', make)]).toEqual([1, 1])
    clock.now += 1000
    const status: MemoryStatus = {}
    expect(cache.getOrSetSync('k', make, { context: 'c', ttl: '9s', status })).toBe(2)
    expect([status.fetch, cache.ttl('k')]).toEqual(['miss', 9000])
    expect([cache.getOrSetSync('k', make, { forceRefresh: true }), cache.get('k')]).toEqual([3, 3])
    expect(seen).toEqual([
      ['k', undefined, undefined],
      ['k', 1, 'c'],
      ['k', 2, undefined],
    ])
    const { hits, misses, writes } = cache.stats()
    expect([hits, misses, writes]).toEqual([2, 3, 3])
    expect(() => cache.getOrSetSync('x', 5 as Any)).toThrow(InvalidArgument)
  })

  test('gives each caller a value of its own', () => {
    const { cache } = openMemory<string, Any>()
    const made = { list: [] as string[] }
    cache.getOrSetSync('k', () => made).list.push('mine')
    cache.getOrSetSync('k', () => made).list.push('mine too')
    expect([cache.get('k'), made]).toEqual([{ list: [] }, { list: ['mine'] }])
  })

  test('a promise is refused, and its failure is not reported', async () => {
    const { cache } = openMemory<string, Any>()
    const failing = async () => {
      throw new RangeError('mine')
    }
    expect(() => cache.getOrSetSync('k', failing)).toThrow(InvalidArgument)
    await settle()
    expect([cache.has('k'), cache.getOrSetSync('k', () => 1)]).toEqual([false, 1])
  })

  test('what the loader throws is the caller’s, and the next one loads', () => {
    const { cache } = openMemory<string, Any>()
    const fails = () => {
      throw new RangeError('mine')
    }
    expect(() => cache.getOrSetSync('k', fails)).toThrow('mine')
    expect(cache.getOrSetSync('k', () => 1)).toBe(1)
  })

  test('beside an asynchronous load: the first to end is stored, and waiting callers get it', async () => {
    const { cache } = openMemory<string, Any>()
    const load = new Load()
    const loading = cache.getOrSet('k', load.loader)
    const joined = cache.getOrSet('k', load.loader)
    await settle()
    expect(cache.getOrSetSync('k', () => 'at once')).toBe('at once')
    expect(await joined).toBe('at once')
    load.end('late')
    expect([await loading, cache.get('k'), load.count]).toEqual(['late', 'at once', 1])
  })

  test('beside an asynchronous load it fails alone', async () => {
    const { cache } = openMemory<string, Any>()
    const load = new Load()
    const loading = cache.getOrSet('k', load.loader)
    await settle()
    const fails = () => {
      throw new RangeError('mine')
    }
    expect(() => cache.getOrSetSync('k', fails)).toThrow('mine')
    load.end('loaded')
    expect([await loading, cache.get('k')]).toEqual(['loaded', 'loaded'])
  })

  test.each(['set', 'delete', 'clear', 'take'] as const)('a %s by the loader wins', (how) => {
    const { cache } = openMemory<string, Any>()
    const value = cache.getOrSetSync('k', () => {
      if (how === 'set') cache.set('k', 'set')
      else if (how === 'clear') cache.clear()
      else cache[how]('k')
      return 'loaded'
    })
    expect([value, cache.get('k')]).toEqual(['loaded', how === 'set' ? 'set' : undefined])
  })

  test('a loader that asks for its own key is told, synchronous or not', async () => {
    const { cache } = openMemory<string, Any>()
    const own = () => cache.getOrSetSync('k', () => cache.getOrSetSync('k', () => 1))
    expect(own).toThrow(InvalidArgument)
    let told: Promise<unknown> | undefined
    cache.getOrSetSync('k', () => {
      told = cache.getOrSet('k', () => 1)
      told.catch(() => {})
      return 2
    })
    await expect(told).rejects.toBeInstanceOf(InvalidArgument)
    await expect(
      cache.getOrSet('x', () => cache.getOrSetSync('x', () => 1)),
    ).rejects.toBeInstanceOf(InvalidArgument)
    expect(cache.getOrSetSync('other', () => cache.getOrSetSync('inner', () => 1))).toBe(1)
  })

  test('what cannot be stored is handed over and counted, or raised', () => {
    const { cache } = openMemory<string, Any>({ maxBytes: 100, weigher: () => 101 })
    expect(cache.getOrSetSync('k', () => 1)).toBe(1)
    expect([cache.has('k'), cache.stats().unstored]).toEqual([false, 1])
    const { cache: raising } = openMemory<string, Any>({ storeErrors: 'raise' })
    expect(() => raising.getOrSetSync('k', () => () => 1)).toThrow('cannot store')
  })

  test('stale values, by the cache’s own policies', () => {
    for (const [policy, given, left] of [
      [{}, 'down', undefined],
      [{ noDeleteOnFetchRejection: true }, 'down', 'stale'],
      [{ allowStaleOnFetchRejection: true }, 'stale', 'stale'],
    ] as const) {
      const { cache, clock } = openMemory<string, Any>({
        ttl: '1s',
        deleteOnExpire: false,
        ...policy,
      })
      cache.set('k', 'stale')
      clock.now += 1000
      const ask = () =>
        cache.getOrSetSync('k', () => {
          throw new RangeError('down')
        })
      let answer: unknown
      try {
        answer = ask()
      } catch (error) {
        answer = (error as Error).message
      }
      expect([answer, cache.peek('k', { allowStale: true })]).toEqual([given, left])
    }
  })
})
