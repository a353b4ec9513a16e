/** MemoryCache.getOrSet, fetch: one loader a key, and what becomes of values that have expired. */
import { describe, expect, test } from 'vitest'
import {
  InvalidArgument,
  type MemoryCacheOptions,
  type MemoryLoadOptions,
  type MemoryStatus,
} from '../../src/memory/index.ts'
import { pause } from '../../src/wait.ts'
import { checkAfterEach, openMemory } from '../support/structure.ts'
import { Timers } from '../support/timers.ts'

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

describe('getOrSet', () => {
  test('loads once for all callers', async () => {
    const { cache } = openMemory<string, Any>({ ttl: '1m' })
    const load = new Load()
    const other = new Load()
    const first = cache.getOrSet('k', load.loader)
    const rest = [1, 2, 3].map(() => cache.getOrSet('k', other.loader))
    await settle()
    load.end({ at: 1 })
    expect(await Promise.all([first, ...rest])).toEqual(Array(4).fill({ at: 1 }))
    expect([load.count, other.count, cache.get('k'), cache.ttl('k')]).toEqual([
      1,
      0,
      { at: 1 },
      60_000,
    ])
    expect(await cache.getOrSet('k', other.loader)).toEqual({ at: 1 })
    expect([other.count, cache.stats().misses, cache.stats().writes]).toEqual([0, 1, 1])
  })

  test('gives each its own copy', async () => {
    const { cache } = openMemory<string, Any>()
    const load = new Load()
    const two = [cache.getOrSet('k', load.loader), cache.getOrSet('k', load.loader)]
    await settle()
    load.end({ list: [] })
    for (const value of await Promise.all(two)) value.list.push('mine')
    expect(cache.get('k')).toEqual({ list: [] })
  })

  test('keys are those of the cache: any value', async () => {
    const { cache } = openMemory<Any, Any>()
    const [one, other] = [{}, {}]
    expect(
      await Promise.all([cache.getOrSet(one, () => 1), cache.getOrSet(other, () => 2)]),
    ).toEqual([1, 2])
    expect([cache.get(one), cache.get(other)]).toEqual([1, 2])
  })

  test.each(['set', 'delete', 'clear', 'take', 'increment'])(
    'a %s during the load wins',
    async (how) => {
      const { cache } = openMemory<string, Any>()
      const [load, later] = [new Load(), new Load()]
      const loading = cache.getOrSet('k', load.loader)
      await settle()
      if (how === 'set') cache.set('k', 'set')
      if (how === 'delete') cache.delete('k')
      if (how === 'clear') cache.clear()
      if (how === 'take') cache.take('k')
      if (how === 'increment') cache.increment('k')
      const after = cache.getOrSet('k', later.loader)
      await settle()
      load.end('loaded')
      expect(await loading).toBe('loaded')
      if (how === 'set') expect(await after).toBe('set')
      else if (how === 'increment') expect(await after).toBe(1)
      else {
        expect([cache.has('k'), later.count]).toEqual([false, 1])
        later.end('later')
        expect([await after, cache.get('k')]).toEqual(['later', 'later'])
      }
    },
  )

  test('its error goes to the caller and those that joined; a later caller loads', async () => {
    const { cache } = openMemory<string, Any>()
    const [load, next] = [new Load(), new Load()]
    const all = [load, next, next].map((one) => cache.getOrSet('k', one.loader))
    const settled = Promise.allSettled(all)
    await settle()
    const error = new RangeError('mine')
    load.fail(error)
    expect(await settled).toEqual(all.map(() => ({ status: 'rejected', reason: error })))
    expect(next.count).toBe(0)
    expect(await cache.getOrSet('k', () => 2)).toBe(2)
    await expect(
      cache.getOrSet('x', () => {
        throw new RangeError('at once')
      }),
    ).rejects.toThrow('at once')
    expect(await cache.getOrSet('x', () => null)).toBeNull()
  })

  test('an abort stops the caller; one that joined loads on', async () => {
    const { cache } = openMemory<string, Any>()
    const [load, next] = [new Load(), new Load()]
    const controller = new AbortController()
    const aborted = cache.getOrSet('k', load.loader, { signal: controller.signal })
    const joined = cache.getOrSet('k', next.loader)
    await settle()
    expect(load.seen.signal).toBe(controller.signal)
    controller.abort(new RangeError('enough'))
    await expect(aborted).rejects.toThrow('enough')
    await settle()
    next.end('next')
    expect(await joined).toBe('next')
    await expect(cache.getOrSet('x', load.loader, { signal: controller.signal })).rejects.toThrow(
      'enough',
    )
    expect(load.count).toBe(1)
  })

  test('a load that takes longer than leaseTimeout is overtaken, also by a loader that asks for its own key', async () => {
    const { cache } = openMemory<string, Any>({ leaseTimeout: '1s' })
    const timers = new Timers()
    const load = new Load()
    const first = cache.getOrSet('k', load.loader)
    await settle()
    const joined = cache.getOrSet('k', () => 'quick')
    timers.advance(1000)
    await settle()
    expect(await joined).toBe('quick')
    load.end('slow')
    expect([await first, cache.get('k')]).toEqual(['slow', 'quick'])
    const own = cache.getOrSet('own', async () => {
      await settle()
      return cache.getOrSet('own', () => 'inner')
    })
    for (let turn = 0; turn < 5; turn++) await settle()
    timers.advance(1000)
    expect(await own).toBe('inner')
    // Before it has awaited anything it is told.
    await expect(
      cache.getOrSet('told', () => cache.getOrSet('told', () => 1)),
    ).rejects.toBeInstanceOf(InvalidArgument)
  })

  test('two loaders that ask for each other’s key end', async () => {
    const { cache } = openMemory<string, Any>({ leaseTimeout: '1s' })
    const timers = new Timers()
    const a = cache.getOrSet('a', () => cache.getOrSet('b', () => 'b of a'))
    const b = cache.getOrSet('b', () => cache.getOrSet('a', () => 'a of b'))
    await settle()
    timers.advance(1000)
    const values = await Promise.all([a, b])
    for (const value of values) expect(['b of a', 'a of b']).toContain(value)
  })

  test('options of a write, context, and what is not an option', async () => {
    const { cache, clock } = openMemory<string, Any>()
    const load = new Load()
    const loading = cache.getOrSet('k', load.loader, {
      ttl: '5s',
      timeToIdle: '4s',
      size: 7,
      context: { user: 1 },
    })
    await settle()
    load.end(1)
    await loading
    expect(load.seen).toMatchObject({
      key: 'k',
      stale: undefined,
      signal: undefined,
      context: { user: 1 },
    })
    expect(cache.ttl('k')).toBe(4000)
    clock.now += 3000
    cache.get('k')
    expect([cache.ttl('k'), cache.entry('k')?.bytes]).toEqual([2000, 7])
    for (const wrong of [
      { ttl: 5 },
      { colour: 1 },
      { signal: {} },
      { allowStale: 1 },
      { size: -1 },
      null,
      5,
    ]) {
      await expect(cache.getOrSet('k', () => 1, wrong as Any)).rejects.toBeInstanceOf(
        InvalidArgument,
      )
    }
    await expect(cache.getOrSet('x', 5 as Any)).rejects.toBeInstanceOf(InvalidArgument)
  })

  test('a loader may say how long its value lives', async () => {
    const { cache } = openMemory<string, Any>({ ttl: '1m' })
    await cache.getOrSet('k', ({ options }) => {
      options.ttl = '5s'
      return 1
    })
    expect(cache.ttl('k')).toBe(5000)
    const wrong = cache.getOrSet('x', ({ options }) => Object.assign(options, { ttl: 5 }))
    await expect(wrong).rejects.toBeInstanceOf(InvalidArgument)
    await cache.getOrSet('y', () => 1)
    expect(cache.ttl('y')).toBe(60_000)
  })

  test('forceRefresh loads though there is a value, which is served meanwhile', async () => {
    const { cache } = openMemory<string, Any>()
    cache.set('k', 'old')
    const load = new Load()
    const loading = cache.getOrSet('k', load.loader, { forceRefresh: true })
    await settle()
    expect([load.seen.stale, cache.get('k')]).toEqual(['old', 'old'])
    load.end('new')
    expect([await loading, cache.get('k')]).toEqual(['new', 'new'])
    const background = new Load()
    const options = { forceRefresh: true, allowStale: true }
    expect(await cache.getOrSet('k', background.loader, options)).toBe('new')
    background.end('newer')
    await settle()
    expect(cache.get('k')).toBe('newer')
    const failing = cache.getOrSet('k', () => Promise.reject(new RangeError('no')), {
      forceRefresh: true,
    })
    await expect(failing).rejects.toThrow('no')
    expect(cache.get('k')).toBe('newer')
  })
})

test('where timers are numbers, methods of the window alone, and setImmediate is missing: in browsers', async () => {
  const { setTimeout: set, clearTimeout: clear, setImmediate: immediate } = globalThis
  const numbers = new Map<number, ReturnType<typeof setTimeout>>()
  const isWindow = (self: unknown) => {
    if (self !== undefined && self !== globalThis) throw new TypeError('Illegal invocation')
  }
  Object.assign(globalThis, {
    setImmediate: undefined,
    setTimeout(this: unknown, run: () => void, ms: number) {
      isWindow(this)
      numbers.set(numbers.size + 1, set(run, ms))
      return numbers.size
    },
    clearTimeout(this: unknown, number: number) {
      isWindow(this)
      clear(numbers.get(number))
    },
  })
  try {
    const { cache } = openMemory<string, number>({ ttl: '1h', clock: Date.now })
    cache.set('first', 1)
    cache.set('sooner', 1, { ttl: '1m' })
    expect(await cache.getOrSet('k', async () => 1)).toBe(1)
    const slow = new Load()
    const first = cache.getOrSet('slow', slow.loader)
    await settle()
    slow.end(2)
    expect([await first, numbers.size > 2]).toEqual([2, true])
    await pause(0, undefined)
  } finally {
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear, setImmediate: immediate })
    for (const timer of numbers.values()) clear(timer)
  }
})

describe('what has expired', () => {
  function expired(options: MemoryCacheOptions<string, Any> = {}) {
    const open = openMemory<string, Any>({
      ttl: '1s',
      allowStaleOnFetchRejection: true,
      ...options,
    })
    open.cache.set('k', 'stale')
    open.clock.now += 1000
    return open
  }

  test('is given while it is loaded anew', async () => {
    const { cache } = expired({ allowStale: true })
    const load = new Load()
    const status: MemoryStatus = {}
    expect(await cache.getOrSet('k', load.loader, { status })).toBe('stale')
    expect(status).toMatchObject({ fetch: 'stale', returnedStale: true })
    expect(await cache.getOrSet('k', load.loader)).toBe('stale')
    expect([load.count, load.seen.stale]).toEqual([1, 'stale'])
    load.end('new')
    await settle()
    expect(await cache.getOrSet('k', load.loader)).toBe('new')
    expect(load.count).toBe(1)
  })

  test('is given when the loader fails, where that is asked for', async () => {
    const fails = () => Promise.reject(new RangeError('down'))
    for (const [options, given, left] of [
      [{}, 'stale', 'stale'],
      [{ allowStaleOnFetchRejection: false }, 'down', undefined],
      [{ noDeleteOnFetchRejection: true }, 'stale', 'stale'],
      [{ noDeleteOnFetchRejection: true, allowStaleOnFetchRejection: false }, 'down', 'stale'],
    ] as [MemoryLoadOptions, string, unknown][]) {
      const { cache } = expired()
      const gone: unknown[] = []
      const answer = await cache
        .getOrSet('k', fails, options)
        .catch((error: Error) => error.message)
      expect([answer, cache.peek('k', { allowStale: true })]).toEqual([given, left])
      cache.on('deleted', (...what) => gone.push(what))
    }
  })

  test('that the loader’s failure took away has expired', async () => {
    const gone: unknown[] = []
    const { cache } = expired({
      deleteOnExpire: false,
      allowStaleOnFetchRejection: false,
      removalListener: (...what) => gone.push(what),
    })
    const failing = cache.getOrSet('k', () => Promise.reject(new RangeError('down')))
    await expect(failing).rejects.toThrow('down')
    expect(gone).toEqual([['k', 'stale', 'expired']])
  })

  test('is given on an abort, where that is asked for; the load goes on, where it is to', async () => {
    for (const ignoreFetchAbort of [false, true]) {
      const { cache } = expired({ allowStaleOnFetchAbort: true, ignoreFetchAbort })
      const load = new Load()
      const controller = new AbortController()
      const loading = cache.getOrSet('k', load.loader, { signal: controller.signal })
      await settle()
      controller.abort()
      expect(await loading).toBe('stale')
      load.end('new')
      await settle()
      expect(cache.get('k')).toBe(ignoreFetchAbort ? 'new' : undefined)
    }
  })

  test('ignoreFetchAbort gives what is loaded', async () => {
    const { cache } = openMemory<string, Any>()
    const load = new Load()
    const controller = new AbortController()
    const loading = cache.getOrSet('k', load.loader, {
      signal: controller.signal,
      ignoreFetchAbort: true,
    })
    await settle()
    controller.abort()
    load.end('loaded')
    expect([await loading, cache.get('k')]).toEqual(['loaded', 'loaded'])
  })

  test('in the background no failure is unheard: the next caller meets it', async () => {
    const { cache } = expired({ allowStale: true, allowStaleOnFetchRejection: false })
    const fails = () => Promise.reject(new RangeError('down'))
    expect(await cache.getOrSet('k', fails)).toBe('stale')
    await settle()
    await expect(cache.getOrSet('k', fails)).rejects.toThrow('down')
  })
})

test('fetch loads with the cache’s loader', async () => {
  const { cache } = openMemory<string, string>({ loader: ({ key }) => `loaded ${key}` })
  expect([await cache.fetch('a'), cache.get('a')]).toEqual(['loaded a', 'loaded a'])
  const { cache: without } = openMemory()
  await expect(without.fetch('a')).rejects.toBeInstanceOf(InvalidArgument)
})

test('a load that a write invalidates is counted', async () => {
  const { cache } = openMemory<string, Any>()
  const loading = cache.getOrSet('k', async () => {
    cache.set('k', 'written')
    return 'loaded'
  })
  expect([await loading, cache.get('k'), cache.stats().invalidatedLoads]).toEqual([
    'loaded',
    'written',
    1,
  ])
  cache.flushStats()
  expect(cache.stats().invalidatedLoads).toBe(0)
})
