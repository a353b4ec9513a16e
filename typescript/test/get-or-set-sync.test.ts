/** getOrSetSync and getOrSetManySync of a Cache: loaders that give their values at once. */
import { describe, expect, test } from 'vitest'
import { Cache, Closed, InvalidArgument, InvalidKey, WaitTimeout } from '../src/index.ts'
import { folder, open } from './support/caches.ts'
import { child } from './support/children.ts'
import { failure } from './support/failure.ts'

type Any = ReturnType<typeof JSON.parse>

const CACHES: [string, (options?: Any) => Cache][] = [
  ['a cache over a directory', (options) => open(options)],
  ['a cache in memory', (options) => new Cache(options)],
]

/** Lets everything that can go on do so. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe.each(CACHES)('%s', (_, make) => {
  test('loads what is not there, and stores it', () => {
    const cache = make({ ttl: '5m' })
    let calls = 0
    const load = () => ({ call: ++calls })
    expect([cache.getOrSetSync('k', load), cache.getOrSetSync('k', load)]).toEqual([
      { call: 1 },
      { call: 1 },
    ])
    expect(cache.getOrSetSync('other', load, { ttl: null })).toEqual({ call: 2 })
    expect(cache.ttlSync('other')).toBe(Number.POSITIVE_INFINITY)
    expect(cache.statsSync()).toMatchObject({ hits: 2, misses: 2, writes: 2 })
  })

  test('gives what a reader would get', () => {
    const cache = make()
    const given = new Map([['a', Buffer.from('x')]])
    const first = cache.getOrSetSync<Any>('k', () => given)
    expect([first, cache.getSync('k')]).toEqual(Array(2).fill({ a: Uint8Array.from([120]) }))
    first.a = 1
    expect(cache.getSync('k')).toEqual({ a: Uint8Array.from([120]) })
  })

  test('a promise is refused, nothing is stored, and its failure is not reported', async () => {
    const cache = make()
    const failing = async () => {
      throw new RangeError('mine')
    }
    expect(failure(() => cache.getOrSetSync('k', failing))).toBeInstanceOf(InvalidArgument)
    const many = async () => ({ k: 1 })
    expect(failure(() => cache.getOrSetManySync(['k'], many as Any))).toBeInstanceOf(
      InvalidArgument,
    )
    await settle()
    expect([cache.hasSync('k'), cache.getOrSetSync('k', () => 1)]).toEqual([false, 1])
  })

  test('beside a load of its own thread: the first to end is stored, and waiting callers get it', async () => {
    const cache = make()
    let end: (value: unknown) => void = () => {}
    let loads = 0
    const load = () => {
      loads++
      return new Promise((resolve) => (end = resolve))
    }
    const loading = cache.getOrSet('k', load)
    const joined = cache.getOrSet('k', load)
    await settle()
    expect(cache.getOrSetSync('k', () => ['at once'])).toEqual(['at once'])
    expect(await joined).toEqual(['at once'])
    end('late')
    expect([await loading, cache.getSync('k'), loads]).toEqual(['late', ['at once'], 1])
    expect(cache.statsSync()).toMatchObject({ writes: 1, invalidatedLoads: 1 })
  })

  test('several keys, one of which an asynchronous load of this thread has', async () => {
    const cache = make()
    cache.setSync('there', 0)
    let end: (value: unknown) => void = () => {}
    const loading = cache.getOrSet('slow', () => new Promise((resolve) => (end = resolve)))
    await settle()
    const asked: unknown[] = []
    const values = cache.getOrSetManySync(['new', 'there', 'slow', 'none', 'new'], (keys) => {
      asked.push(keys)
      return { new: 1, slow: 2 }
    })
    expect(asked).toEqual([['new', 'slow', 'none']])
    expect([...values]).toEqual([
      ['new', 1],
      ['there', 0],
      ['slow', 2],
    ])
    end('late')
    expect([await loading, cache.getSync('slow'), cache.hasSync('none')]).toEqual([
      'late',
      2,
      false,
    ])
  })

  test('a loader that fails stores nothing, and the next caller loads', () => {
    const cache = make()
    const fails = () => {
      throw new RangeError('mine')
    }
    expect(failure(() => cache.getOrSetSync('k', fails))).toBeInstanceOf(RangeError)
    expect(failure(() => cache.getOrSetManySync(['k', 'l'], fails))).toBeInstanceOf(RangeError)
    expect(cache.getOrSetSync('k', () => 1)).toBe(1)
    expect([...cache.getOrSetManySync(['k', 'l'], () => [['l', 2]])]).toEqual([
      ['k', 1],
      ['l', 2],
    ])
  })

  test('a set or delete by the loader wins', () => {
    const cache = make()
    const value = cache.getOrSetSync('k', () => {
      cache.setSync('k', 'set')
      return 'loaded'
    })
    expect([value, cache.getSync('k')]).toEqual(['loaded', 'set'])
    cache.getOrSetSync('l', () => {
      cache.deleteSync('l')
      return 'loaded'
    })
    expect(cache.hasSync('l')).toBe(false)
  })

  test('a loader may use the cache, for other keys than its own', async () => {
    const cache = make()
    expect(cache.getOrSetSync('a', () => cache.getOrSetSync('b', () => 1))).toBe(1)
    const own = [
      () => cache.getOrSetSync('k', () => cache.getOrSetSync('k', () => 1)),
      () => cache.getOrSetManySync(['k'], () => [['k', cache.getOrSetSync('k', () => 1)]]),
      () => cache.getOrSetSync('k', () => cache.getOrSetManySync(['j', 'k'], () => []).size),
    ]
    for (const act of own) expect(failure(act)).toBeInstanceOf(InvalidArgument)
    const asynchronous = [
      () => cache.getOrSet('k', () => cache.getOrSetSync('k', () => 1)),
      () => cache.getOrSetMany(['k'], () => [['k', cache.getOrSetSync('k', () => 1)]]),
    ]
    for (const act of asynchronous) {
      await expect(act()).rejects.toBeInstanceOf(InvalidArgument)
    }
    expect(cache.hasSync('k')).toBe(false)
  })

  test('arguments come first', () => {
    const cache = make()
    const load = () => {
      throw new Error('it is not called')
    }
    const wrong: [() => unknown, Any][] = [
      [() => cache.getOrSetSync(5 as Any, load, {}), InvalidKey],
      [() => cache.getOrSetSync('k', load, { ttl: 5 as Any }), InvalidArgument],
      [() => cache.getOrSetSync('k', load, { signal: 5 } as Any), InvalidArgument],
      [() => cache.getOrSetSync('k', 5 as Any), InvalidArgument],
      [() => cache.getOrSetManySync('k' as Any, load), InvalidArgument],
      [() => cache.getOrSetManySync(['k', 5 as Any], load), InvalidKey],
      [() => cache.getOrSetManySync([], 5 as Any), InvalidArgument],
      [() => cache.getOrSetManySync([], load, { ttl: 5 as Any }), InvalidArgument],
      [() => cache.getOrSetManySync([], load, { signal: undefined } as Any), InvalidArgument],
    ]
    for (const [act, error] of wrong) expect(failure(act)).toBeInstanceOf(error)
    cache.closeSync()
    expect(failure(() => cache.getOrSetSync('k', load))).toBeInstanceOf(Closed)
    expect(failure(() => cache.getOrSetManySync(['k'], load))).toBeInstanceOf(Closed)
  })
})

test('beside a load of its own thread over another handle, which has other options', async () => {
  const path = folder()
  const [one, two] = [open({ path, limit: '4MiB' }), open({ path, leaseTimeout: '1h' })]
  let end: (value: unknown) => void = () => {}
  const loading = one.getOrSet('k', () => new Promise((resolve) => (end = resolve)))
  await settle()
  expect(two.getOrSetSync('k', () => 'at once')).toBe('at once')
  expect([...two.getOrSetManySync(['k', 'l'], () => [['l', 1]])]).toEqual([
    ['k', 'at once'],
    ['l', 1],
  ])
  end('late')
  expect([await loading, one.getSync('k'), two.statsSync().waitTimeouts]).toEqual([
    'late',
    'at once',
    0,
  ])
})

test('another process’ load is waited for, without the event loop', async () => {
  const path = folder()
  const cache = open({ path, limit: '4MiB' })
  const other = child(path)
  other.send('holdFor', 'k', 'theirs', '30')
  expect(await other.hear()).toBe('loading')
  let calls = 0
  expect(cache.getOrSetSync('k', () => ++calls)).toBe('theirs')
  expect(calls).toBe(0)
})

test('of several keys, free ones are loaded before those of another process are waited for', async () => {
  const path = folder()
  const cache = open({ path, limit: '4MiB' })
  const other = child(path)
  other.send('holdFor', 'k', 'theirs', '30')
  expect(await other.hear()).toBe('loading')
  const asked: unknown[] = []
  const values = cache.getOrSetManySync(['k', 'mine'], (keys) => {
    asked.push(keys)
    return keys.map((key) => [key, 'mine'] as const)
  })
  expect([Object.fromEntries(values), asked]).toEqual([{ k: 'theirs', mine: 'mine' }, [['mine']]])
})

test('it waits as long as waitTimeout, and loads when the other process dies', async () => {
  const path = folder()
  const other = child(path)
  other.send('hold', 'k')
  expect(await other.hear()).toBe('loading')
  const cache = open({ path, waitTimeout: '20ms' })
  const load = () => 'mine'
  expect(failure(() => cache.getOrSetSync('k', load))).toBeInstanceOf(WaitTimeout)
  expect(failure(() => cache.getOrSetManySync(['k', 'l'], () => []))).toBeInstanceOf(WaitTimeout)
  expect(cache.statsSync().waitTimeouts).toBe(2)
  await other.killed()
  expect(cache.getOrSetSync('k', load)).toBe('mine')
})
