/** What loads promise (`spec/semantics.md`), in one process: over a directory, without one, and for a MemoryCache. */
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  Cache,
  type CacheOptions,
  InvalidArgument,
  MemoryCache,
  UnsupportedValue,
  WaitTimeout,
} from '../src/index.ts'
import { folder, open } from './support/caches.ts'
import { Timers } from './support/timers.ts'

type Any = ReturnType<typeof JSON.parse>

/** What the three have in common. */
interface Loads {
  getOrSet(key: string, loader: () => unknown, options?: { signal: AbortSignal }): Promise<Any>
  get(key: string): Any
  set(key: string, value: unknown): void
  delete(key: string): void
  clear(): void
  stats(): { unstored: number; waitTimeouts: number }
}

type Waits = Pick<CacheOptions, 'leaseTimeout' | 'waitTimeout' | 'storeErrors'>

function ofCache(cache: Cache): Loads {
  return {
    getOrSet: (key, loader, options) => cache.getOrSet(key, loader, options),
    get: (key) => cache.getSync(key),
    set: (key, value) => cache.setSync(key, value),
    delete: (key) => cache.deleteSync(key),
    clear: () => cache.clearSync(),
    stats: () => cache.statsSync(),
  }
}

const KINDS: [string, (options?: Waits) => Loads][] = [
  ['over a directory', (options) => ofCache(open(options))],
  ['without a directory', (options) => ofCache(new Cache(options))],
  ['of a MemoryCache', (options) => new MemoryCache<string, Any>(options)],
]

/** A loader that a test ends when it wants to. */
class Loader {
  count = 0
  readonly ends: ((value: unknown) => void)[] = []
  #begun: (() => void) | undefined

  readonly run = (): Promise<unknown> => {
    this.count++
    const loading = new Promise((resolve, reject) => {
      this.ends.push((value) => (value instanceof Error ? reject(value) : resolve(value)))
    })
    this.#begun?.()
    return loading
  }

  /** Resolves when the next load begins. */
  begins(): Promise<void> {
    return new Promise((resolve) => {
      this.#begun = resolve
    })
  }
}

/** What a promise is rejected with. (Bun's `rejects` lets nothing else happen meanwhile.) */
function thrown(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** The warnings of the process from here on. */
function warnings(): { code: unknown; message: string }[] {
  const heard: { code: unknown; message: string }[] = []
  const listener = (warning: Error & { code?: string }) => {
    if (warning.name === 'PolycacheWarning')
      heard.push({ code: warning.code, message: warning.message })
  }
  process.on('warning', listener)
  onTestFinished(() => void process.off('warning', listener))
  return heard
}

describe.each(KINDS)('loads %s', (_, make) => {
  test('1,000 callers of one load run one loader, and each has a value of its own', async () => {
    const [cache, loader] = [make(), new Loader()]
    const all = Array.from({ length: 1000 }, () => cache.getOrSet('k', loader.run))
    await settle()
    loader.ends[0]({ list: [1] })
    const values = await Promise.all(all)
    for (const value of values) expect(value).toEqual({ list: [1] })
    expect([loader.count, new Set(values).size]).toEqual([1, 1000])
  })

  test('a delete: later callers do not get the old value, earlier ones do', async () => {
    for (const change of ['delete', 'clear'] as const) {
      const [cache, loader] = [make(), new Loader()]
      const before = [1, 2].map(() => cache.getOrSet('k', loader.run))
      await settle()
      cache[change]('k')
      const begins = loader.begins()
      const later = cache.getOrSet('k', loader.run)
      loader.ends[0]('old')
      expect(await Promise.all(before)).toEqual(['old', 'old'])
      await begins
      loader.ends[1]('new')
      expect([await later, cache.get('k'), loader.count]).toEqual(['new', 'new', 2])
    }
  })

  test('a set during a load wins', async () => {
    const [cache, loader] = [make(), new Loader()]
    const loading = cache.getOrSet('k', loader.run)
    await settle()
    cache.set('k', 'set')
    expect(await cache.getOrSet('k', loader.run)).toBe('set')
    loader.ends[0]('loaded')
    expect([await loading, cache.get('k'), loader.count]).toEqual(['loaded', 'set', 1])
  })

  test('a leader that is cancelled: one of those that joined loads, once', async () => {
    const [cache, loader] = [make(), new Loader()]
    const controller = new AbortController()
    const leading = cache.getOrSet('k', loader.run, { signal: controller.signal })
    const joined = Array.from({ length: 50 }, () => cache.getOrSet('k', loader.run))
    const cancelled = thrown(leading)
    await settle()
    const begins = loader.begins()
    controller.abort(new Error('enough'))
    await begins
    await settle()
    loader.ends[1]('v')
    expect(await Promise.all(joined)).toEqual(Array(50).fill('v'))
    expect(await cancelled).toEqual(new Error('enough'))
    expect(loader.count).toBe(2)
  })

  test('waitTimeout ends a wait, and the load goes on', async () => {
    const timers = new Timers()
    const [cache, loader] = [make({ waitTimeout: '5s' }), new Loader()]
    const leading = cache.getOrSet('k', loader.run)
    await settle()
    const waiting = cache.getOrSet('k', loader.run)
    const told = thrown(waiting)
    await settle()
    timers.advance(4999)
    expect(cache.stats().waitTimeouts).toBe(0)
    timers.advance(1)
    expect(await told).toBeInstanceOf(WaitTimeout)
    expect(cache.stats().waitTimeouts).toBe(1)
    loader.ends[0]('v')
    expect([await leading, cache.get('k'), loader.count]).toEqual(['v', 'v', 1])
    expect(timers.holding).toBe(0)
  })

  test('a bound is each waiter’s own: the time before a leader was cancelled counts', async () => {
    const timers = new Timers()
    const [cache, loader] = [make({ waitTimeout: '5s' }), new Loader()]
    const controller = new AbortController()
    const leading = cache.getOrSet('k', loader.run, { signal: controller.signal })
    leading.catch(() => {})
    await settle()
    const [first, second] = [1, 2].map(() => cache.getOrSet('k', loader.run))
    await settle()
    timers.advance(3000)
    const begins = loader.begins()
    controller.abort()
    await begins
    await settle()
    const told = thrown(second)
    timers.advance(2000)
    expect(await told).toBeInstanceOf(WaitTimeout)
    // Its own loader's time does not count.
    loader.ends[1]('v')
    expect(await first).toBe('v')
  })

  test('a loader that asks at once for its own key is told, also by way of another key', async () => {
    const cache = make()
    await expect(cache.getOrSet('k', () => cache.getOrSet('k', () => 1))).rejects.toBeInstanceOf(
      InvalidArgument,
    )
    const circle = cache.getOrSet('a', () =>
      cache.getOrSet('b', () => cache.getOrSet('a', () => 1)),
    )
    await expect(circle).rejects.toBeInstanceOf(InvalidArgument)
    expect(await cache.getOrSet('a', () => cache.getOrSet('b', () => 1))).toBe(1)
  })

  test('a value that cannot be stored is handed over, counted, reported once', async () => {
    const heard = warnings()
    const [cache, loader] = [make(), new Loader()]
    const both = [1, 2].map(() => cache.getOrSet('k', loader.run))
    await settle()
    const given = { call: () => 1 }
    loader.ends[0](given)
    // It has no copies.
    for (const value of await Promise.all(both)) expect(value).toBe(given)
    expect(await cache.getOrSet('k', () => undefined)).toBeUndefined()
    expect(cache.stats().unstored).toBe(2)
    expect(await cache.getOrSet('k', () => 'v')).toBe('v')
    await settle()
    expect(heard.map(({ code }) => code)).toEqual(['unsupported_value'])
    expect(heard[0].message).toContain('$.call')
    expect(() => cache.set('k', given)).toThrow(UnsupportedValue)
    expect(cache.stats().unstored).toBe(2)
  })

  test('with storeErrors raise it is an error, which frees the key', async () => {
    const heard = warnings()
    const [cache, loader] = [make({ storeErrors: 'raise' }), new Loader()]
    const both = [1, 2].map(() => cache.getOrSet('k', loader.run))
    const settled = Promise.allSettled(both)
    await settle()
    loader.ends[0](() => 1)
    const told = (await settled).map((one) => one.status === 'rejected' && one.reason)
    expect(told[0]).toBeInstanceOf(UnsupportedValue)
    expect(told[1]).toBe(told[0])
    expect(await cache.getOrSet('k', () => 'v')).toBe('v')
    await settle()
    expect([heard, cache.stats().unstored]).toEqual([[], 0])
  })

  test('a getter’s error is not a storage error', async () => {
    const cache = make()
    const value = {
      get broken() {
        throw new RangeError('from the getter')
      },
    }
    await expect(cache.getOrSet('k', () => value)).rejects.toThrow('from the getter')
    expect(await cache.getOrSet('k', () => 'v')).toBe('v')
    expect(cache.stats().unstored).toBe(0)
  })
})

describe.each(KINDS.slice(1))('loads %s', (_, make) => {
  test('one that is older than leaseTimeout: a waiting caller loads beside it', async () => {
    const timers = new Timers()
    const [cache, loader] = [make({ leaseTimeout: '1s' }), new Loader()]
    const slow = cache.getOrSet('k', loader.run)
    await settle()
    const waiting = Array.from({ length: 60 }, () => cache.getOrSet('k', loader.run))
    await settle()
    timers.advance(1000)
    await settle()
    expect(loader.count).toBe(2)
    timers.advance(999)
    const late = cache.getOrSet('k', loader.run)
    await settle()
    expect(loader.count).toBe(2)
    // The first is stored, and answers all callers that wait.
    loader.ends[0]('slow')
    expect(await slow).toBe('slow')
    expect(await Promise.all(waiting.slice(1))).toEqual(Array(59).fill('slow'))
    expect([await late, cache.get('k')]).toEqual(['slow', 'slow'])
    loader.ends[1]('beside')
    expect([await waiting[0], cache.get('k'), loader.count]).toEqual(['beside', 'slow', 2])
  })

  test('a hung one: a later caller loads beside it, and its value is stored', async () => {
    const timers = new Timers()
    const [cache, loader] = [make({ leaseTimeout: '1s' }), new Loader()]
    cache.getOrSet('k', loader.run).catch(() => {})
    await settle()
    timers.advance(5000)
    expect(await cache.getOrSet('k', () => 'v')).toBe('v')
    expect(cache.get('k')).toBe('v')
  })
})

test('a hung loader of another handle: a later caller loads beside it, and its value is stored', async () => {
  const path = folder()
  // Other options make it another store, as another process would be.
  const [one, two] = [
    open({ path, limit: '4MiB', leaseTimeout: '63ms' }),
    open({ path, leaseTimeout: '1h' }),
  ]
  one.getOrSet('k', () => new Promise(() => {})).catch(() => {})
  expect(await two.getOrSet('k', () => 'v')).toBe('v')
  expect([one.getSync('k'), two.getSync('k')]).toEqual(['v', 'v'])
})

test('waitTimeout bounds the wait for another process’ load, too', async () => {
  const path = folder()
  const [one, two] = [
    open({ path, limit: '4MiB' }),
    open({ path, waitTimeout: '20ms', leaseTimeout: '1h' }),
  ]
  let end: (value: string) => void = () => {}
  const leading = one.getOrSet('k', () => new Promise<string>((resolve) => (end = resolve)))
  const waiting = [1, 2].map(() => two.getOrSet('k', () => 'never'))
  for (const one of await Promise.allSettled(waiting)) {
    expect(one.status === 'rejected' && one.reason).toBeInstanceOf(WaitTimeout)
  }
  expect(two.statsSync().waitTimeouts).toBe(2)
  end('v')
  expect([await leading, two.getSync('k')]).toEqual(['v', 'v'])
})

test('callers of another handle whose load failed load beside each other, one a store', async () => {
  const path = folder()
  const stores = [
    open({ path, limit: '4MiB' }),
    open({ path, leaseTimeout: '1h' }),
    open({ path, leaseTimeout: '2h' }),
  ]
  const loaders = stores.map(() => new Loader())
  const begun = loaders.map((loader) => loader.begins())
  const callers = stores.flatMap((store, at) =>
    Array.from({ length: 20 }, () => store.getOrSet('k', loaders[at].run)),
  )
  const settled = Promise.allSettled(callers)
  await begun[0]
  await settle()
  const error = new Error('down')
  loaders[0].ends[0](error)
  // Each of the others loads, though the next of them has the lease by then.
  await Promise.all(begun)
  await settle()
  for (const loader of loaders.slice(1)) for (const end of loader.ends) end(error)
  for (const one of await settled) expect(one).toEqual({ status: 'rejected', reason: error })
  expect(loaders.map((loader) => loader.count)).toEqual([1, 1, 1])
})
