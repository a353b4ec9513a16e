/** getOrSet within one process: callers that join a load, cancellation, failing and hanging loaders. */
import { describe, expect, test } from 'vitest'
import { keyHash } from '../src/host/hash.ts'
import { native } from '../src/host/native.ts'
import { type Cache, Closed } from '../src/index.ts'
import { KeyBuffer } from '../src/key.ts'
import { folder, open } from './support/caches.ts'

/** A loader that a test ends when it wants to. */
class Loads {
  count = 0
  readonly #started: (() => void)[] = []
  readonly #ends: ((value: unknown) => void)[] = []

  readonly loader = (): Promise<unknown> => {
    this.count++
    this.#started.shift()?.()
    return new Promise((resolve, reject) => {
      this.#ends.push((value) => (value instanceof Error ? reject(value) : resolve(value)))
    })
  }

  /** Resolves when a load begins. */
  begun(): Promise<void> {
    return new Promise((resolve) => this.#started.push(resolve))
  }

  /** Ends the load that began last. */
  endLast(value: unknown): void {
    this.#ends.pop()?.(value)
  }

  /** Ends the load that began first and is still under way. */
  end(value: unknown): void {
    this.#ends.shift()?.(value)
  }
}

/** Begins a load and waits until the loader runs. */
async function leading(
  cache: Cache,
  loads: Loads,
  signal?: AbortSignal,
): Promise<{ value: Promise<unknown> }> {
  const begun = loads.begun()
  const value = cache.getOrSet('k', loads.loader, signal ? { signal } : undefined)
  value.catch(() => {})
  await begun
  // In an object, for a promise would be awaited.
  return { value }
}

/** Lets everything that can go on do so. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe('callers that come during a load', () => {
  test('share it, and each gets a value of its own', async () => {
    const cache = open()
    const loads = new Loads()
    const { value } = await leading(cache, loads)
    const joined = Array.from({ length: 100 }, () => cache.getOrSet('k', loads.loader))
    await settle()
    expect(loads.count).toBe(1)
    const loaded = { list: [1] }
    loads.end(loaded)
    expect(await value).toBe(loaded)
    const values = await Promise.all(joined)
    expect(values).toEqual(joined.map(() => loaded))
    expect(new Set([loaded, ...values]).size).toBe(101)
    expect(loads.count).toBe(1)
    expect(cache.getSync('k')).toEqual(loaded)
  })

  test('share it across handles and namespaces that mean the same key', async () => {
    const path = folder()
    const [one, two] = [
      open({ path, limit: '4MiB', namespace: ['a', 'b'] }),
      open({ path, limit: '4MiB' }),
    ]
    const loads = new Loads()
    const { value } = await leading(one, loads)
    const joined = two.namespace('a').namespace('b').getOrSet(Buffer.from('k'), loads.loader)
    await settle()
    loads.end('v')
    expect(await Promise.all([value, joined])).toEqual(['v', 'v'])
    expect(loads.count).toBe(1)
  })

  test('of another key load beside it', async () => {
    const cache = open()
    const loads = new Loads()
    const { value } = await leading(cache, loads)
    expect(await cache.getOrSet('other', () => 'other')).toBe('other')
    expect(await cache.namespace('n').getOrSet('k', () => 'nested')).toBe('nested')
    loads.end('v')
    expect(await value).toBe('v')
  })

  test('get a value that is invalidated meanwhile, because they came before that', async () => {
    const cache = open()
    const loads = new Loads()
    const { value } = await leading(cache, loads)
    const joined = cache.getOrSet('k', loads.loader)
    await settle()
    cache.deleteSync('k')
    loads.end('v')
    expect(await Promise.all([value, joined])).toEqual(['v', 'v'])
    expect(loads.count).toBe(1)
    expect(cache.getSync('k')).toBeUndefined()
    expect(cache.statsSync().invalidatedLoads).toBe(1)
  })

  test('wait for a load of another handle that is not in this isolate’s books', async () => {
    const path = folder()
    // Another lease timeout makes it another store, as another process would be.
    const [one, two] = [open({ path, limit: '4MiB' }), open({ path, leaseTimeout: '1h' })]
    const loads = new Loads()
    const { value } = await leading(one, loads)
    const waiting = [two.getOrSet('k', loads.loader), two.getOrSet('k', loads.loader)]
    await settle()
    loads.end('v')
    expect(await Promise.all([value, ...waiting])).toEqual(['v', 'v', 'v'])
    expect(loads.count).toBe(1)
  })
})

describe('a caller that comes after the key changed during a load never gets the old load’s value', () => {
  test.each([
    ['a delete', (cache: Cache) => cache.deleteSync('k'), undefined],
    ['a clear', (cache: Cache) => cache.clearSync(), undefined],
    ['a set', (cache: Cache) => cache.setSync('k', 'set'), 'set'],
  ] as const)('after %s', async (_, change, there) => {
    const cache = open()
    const loads = new Loads()
    const { value } = await leading(cache, loads)
    change(cache)
    if (there === undefined) {
      const begun = loads.begun()
      const late = cache.getOrSet('k', loads.loader)
      // After a clear the lease stands, so the late caller waits for it to end.
      loads.end('stale')
      await begun
      loads.end('fresh')
      expect(await late).toBe('fresh')
      expect(cache.getSync('k')).toBe('fresh')
    } else {
      expect(await cache.getOrSet('k', loads.loader)).toBe(there)
      loads.end('stale')
      expect(cache.getSync('k')).toBe(there)
    }
    expect(await value).toBe('stale')
  })

  test('also while the old load still runs', async () => {
    const cache = open()
    const loads = new Loads()
    const { value } = await leading(cache, loads)
    cache.deleteSync('k')
    const begun = loads.begun()
    const late = cache.getOrSet('k', loads.loader)
    await begun
    const joined = cache.getOrSet('k', loads.loader)
    await settle()
    expect(loads.count).toBe(2)
    loads.end('stale')
    expect(await value).toBe('stale')
    loads.end('fresh')
    expect(await Promise.all([late, joined])).toEqual(['fresh', 'fresh'])
    expect(cache.getSync('k')).toBe('fresh')
  })
})

describe('a loader that fails', () => {
  test('fails for its caller and those that joined; a later caller loads', async () => {
    const cache = open()
    const loads = new Loads()
    const { value } = await leading(cache, loads)
    const joined = Array.from({ length: 99 }, () => cache.getOrSet('k', loads.loader))
    const settled = Promise.allSettled([value, ...joined])
    await settle()
    const error = new Error('from the loader')
    loads.end(error)
    const told = await settled
    expect(told.map((one) => one.status === 'rejected' && one.reason === error)).toEqual(
      Array(100).fill(true),
    )
    expect(loads.count).toBe(1)
    expect(await cache.getOrSet('k', () => 'v')).toBe('v')
  })

  test('at once is like one that fails later', async () => {
    const cache = open()
    const error = new Error('from the loader')
    const failing = () => {
      throw error
    }
    await expect(cache.getOrSet('k', failing)).rejects.toBe(error)
    expect(await cache.getOrSet('k', () => 'v')).toBe('v')
  })
})

describe('a caller that is cancelled', () => {
  test('while it loads is told at once; those that joined load themselves', async () => {
    const cache = open()
    const loads = new Loads()
    const controller = new AbortController()
    const { value } = await leading(cache, loads, controller.signal)
    const joined = cache.getOrSet('k', loads.loader)
    await settle()
    const begun = loads.begun()
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(value).rejects.toBe(reason)
    await begun
    loads.end('too late')
    loads.end('v')
    expect(await joined).toBe('v')
    expect(cache.getSync('k')).toBe('v')
  })

  test('while it waits leaves the load alone', async () => {
    const cache = open()
    const loads = new Loads()
    const { value } = await leading(cache, loads)
    const controller = new AbortController()
    const joined = cache.getOrSet('k', loads.loader, { signal: controller.signal })
    joined.catch(() => {})
    await settle()
    controller.abort()
    await expect(joined).rejects.toMatchObject({ name: 'AbortError' })
    loads.end('v')
    expect(await value).toBe('v')
    expect(loads.count).toBe(1)
  })

  test('while it polls for another store lets another waiter go on', async () => {
    const path = folder()
    const [one, two] = [open({ path, limit: '4MiB' }), open({ path, leaseTimeout: '1h' })]
    const loads = new Loads()
    const { value } = await leading(one, loads)
    const controller = new AbortController()
    const polling = two.getOrSet('k', loads.loader, { signal: controller.signal })
    polling.catch(() => {})
    const joined = two.getOrSet('k', loads.loader)
    await settle()
    controller.abort()
    await expect(polling).rejects.toMatchObject({ name: 'AbortError' })
    loads.end('v')
    expect(await Promise.all([value, joined])).toEqual(['v', 'v'])
    expect(loads.count).toBe(1)
  })

  test('before it begins never loads', async () => {
    const cache = open()
    const loads = new Loads()
    const signal = AbortSignal.abort(new Error('before'))
    await expect(cache.getOrSet('k', loads.loader, { signal })).rejects.toThrow('before')
    expect(loads.count).toBe(0)
  })

  test('hands its signal to the loader', async () => {
    const cache = open()
    const { signal } = new AbortController()
    const given: unknown[] = []
    await cache.getOrSet('k', (context) => given.push(context.signal), { signal })
    await cache.getOrSet('other', (context) => given.push(context.signal))
    expect(given).toEqual([signal, undefined])
  })
})

test('a loader that hangs is overtaken by a waiting caller, after leaseTimeout', async () => {
  const cache = open({ leaseTimeout: '63ms' })
  const loads = new Loads()
  const { value } = await leading(cache, loads)
  const begun = loads.begun()
  const joined = [1, 2, 3].map(() => cache.getOrSet('k', loads.loader))
  // One of them takes over; nothing else ends this wait.
  await begun
  await settle()
  expect(loads.count).toBe(2)
  loads.endLast('v')
  expect(await Promise.all(joined)).toEqual(['v', 'v', 'v'])
  expect(cache.getSync('k')).toBe('v')
  loads.end('late')
  expect(await value).toBe('late')
  // Two loads for one lease: the first was stored, the other was not.
  expect(cache.getSync('k')).toBe('v')
  expect([loads.count, cache.statsSync().writes, cache.statsSync().invalidatedLoads]).toEqual([
    2, 1, 1,
  ])
})

test('a slow load that ends before the one beside it is stored, and answers all waiting callers', async () => {
  const cache = open({ leaseTimeout: '63ms' })
  const loads = new Loads()
  const { value } = await leading(cache, loads)
  const begun = loads.begun()
  const joined = [1, 2, 3].map(() => cache.getOrSet('k', loads.loader))
  joined[0].catch(() => {})
  await begun
  await settle()
  loads.end('slow')
  expect(await value).toBe('slow')
  expect(await Promise.all(joined.slice(1))).toEqual(['slow', 'slow'])
  expect(cache.getSync('k')).toBe('slow')
  loads.end('beside')
  expect(await joined[0]).toBe('beside')
  expect([loads.count, cache.getSync('k')]).toEqual([2, 'slow'])
})

test('closing during a load is an error for the loader’s caller and those that joined', async () => {
  const cache = open()
  const loads = new Loads()
  const { value } = await leading(cache, loads)
  const joined = cache.getOrSet('k', loads.loader)
  joined.catch(() => {})
  await settle()
  cache.closeSync()
  loads.end('v')
  await expect(value).rejects.toBeInstanceOf(Closed)
  await expect(joined).rejects.toBeInstanceOf(Closed)
})

test('when all buckets of a key hold loads, the value is loaded and not stored', async () => {
  const cache = open({ limit: '2MiB', leaseTimeout: '1h' })
  // Several times as many as the index has slots.
  const others = fillersOf('k', cache.path!, 40_000)
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const held = others.map((key) => cache.getOrSet(key, () => ended.then(() => key)))
  await settle()
  expect(await cache.getOrSet('k', () => 'not stored')).toBe('not stored')
  expect(cache.getSync('k')).toBeUndefined()
  end()
  expect(await Promise.all(held)).toEqual(others)
  expect(await cache.getOrSet('k', () => 'stored')).toBe('stored')
  expect(cache.getSync('k')).toBe('stored')
})

/** Keys with other tags than `key`: leases match by tag, so it would wait for one that has its own. */
function fillersOf(key: string, path: string, count: number): string[] {
  const options = {
    path,
    leaseTimeout: 1000,
    emptyAtBoot: false,
    flushEvery: 5000,
    manualClock: false,
  }
  const store = native().NativeStore.open(options)
  const { seedLow, seedHigh, levels } = store.layout()
  expect(levels.reduce((sum, buckets) => sum + 8 * buckets, 0)).toBeLessThan(count / 2)
  store.close()
  const buffer = new KeyBuffer(Buffer.from('::'))
  const hash = { low: 0, high: 0 }
  const tagOf = (text: string) => {
    buffer.set(text)
    keyHash(seedLow, seedHigh, buffer.words, buffer.to, hash)
    return hash.high >>> 22
  }
  const own = tagOf(key)
  const found: string[] = []
  for (let number = 0; found.length < count; number++) {
    if (tagOf(`other ${number}`) !== own) found.push(`other ${number}`)
  }
  return found
}
