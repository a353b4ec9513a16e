/** getOrSetMany: one call of the loader for what is missing, and the rules of getOrSet for each key. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { Cache, InvalidArgument, MemoryCache, WaitTimeout } from '../src/index.ts'
import { folder, open } from './support/caches.ts'
import { child } from './support/children.ts'

type Any = ReturnType<typeof JSON.parse>

const CACHES: [string, (options?: Any) => Any][] = [
  ['a cache over a directory', (options) => open(options)],
  ['a cache in memory', (options) => new Cache(options)],
  ['a MemoryCache', (options) => new MemoryCache(options)],
]

/** A loader of many keys that a test ends when it wants to. */
class Many {
  readonly asked: string[][] = []
  #begun: () => void = () => {}
  readonly #ends: [(value: Any) => void, (error: unknown) => void][] = []
  readonly loader = (keys: string[]): Promise<Any> => {
    this.asked.push(keys)
    this.#begun()
    return new Promise((resolve, reject) => this.#ends.push([resolve, reject]))
  }
  /** Resolves when the next call begins. */
  begun(): Promise<void> {
    return new Promise((resolve) => {
      this.#begun = resolve
    })
  }
  end(value: Any): void {
    this.#ends.shift()?.[0](value)
  }
  fail(error: unknown): void {
    this.#ends.shift()?.[1](error)
  }
}

/** Lets everything that can go on do so. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** The keys in two, as a loader returns them. */
const each = (keys: string[], value: unknown) => keys.map((key) => [key, value] as const)

describe.each(CACHES)('%s', (_, make) => {
  test('asks once for what is missing, and gives all in the order of the keys', async () => {
    const cache = make()
    await cache.set('b', 'there')
    const asked: unknown[] = []
    const values = await cache.getOrSetMany(['a', 'b', 'c', 'a', 'd'], (keys: string[]) => {
      asked.push(keys)
      return { c: 3, a: 1, d: undefined }
    })
    expect(asked).toEqual([['a', 'c', 'd']])
    expect([...values]).toEqual([
      ['a', 1],
      ['b', 'there'],
      ['c', 3],
    ])
    const { misses, writes } = await cache.stats()
    expect([misses, writes]).toEqual([3, 3])
    expect([await cache.get('a'), await cache.has('d')]).toEqual([1, false])
  })

  test('of many callers at the same time each key is loaded once', async () => {
    const cache = make()
    const loads = new Map<string, number>()
    const loader = async (keys: string[]) => {
      for (const key of keys) loads.set(key, (loads.get(key) ?? 0) + 1)
      await settle()
      return new Map(keys.map((key) => [key, { key }]))
    }
    const all = [
      cache.getOrSetMany(['a', 'b'], loader),
      cache.getOrSetMany(['b', 'c', 'a'], loader),
      cache.getOrSetMany(['c', 'b', 'd'], loader),
      cache.getOrSet('d', async () => {
        loads.set('d', (loads.get('d') ?? 0) + 1)
        await settle()
        return { key: 'd' }
      }),
    ]
    const [one, two, three, four] = (await Promise.all(all)) as Any[]
    expect([[...one.keys()], [...two.keys()], [...three.keys()]]).toEqual([
      ['a', 'b'],
      ['b', 'c', 'a'],
      ['c', 'b', 'd'],
    ])
    expect([two.get('a'), three.get('b'), four]).toEqual([{ key: 'a' }, { key: 'b' }, { key: 'd' }])
    expect(Object.fromEntries(loads)).toEqual({ a: 1, b: 1, c: 1, d: 1 })
    // Each has values of its own.
    one.get('a').key = 'mine'
    expect([two.get('a'), await cache.get('a')]).toEqual([{ key: 'a' }, { key: 'a' }])
  })

  test('loads and stores its own keys before it waits for those of others', async () => {
    const cache = make()
    const [first, second] = [new Many(), new Many()]
    const one = cache.getOrSetMany(['a'], first.loader)
    await settle()
    const two = cache.getOrSetMany(['a', 'b'], second.loader)
    await settle()
    expect(second.asked).toEqual([['b']])
    second.end(each(['b'], 2))
    await settle()
    expect(await cache.get('b')).toBe(2)
    first.end(each(['a'], 1))
    expect([...(await two)]).toEqual([
      ['a', 1],
      ['b', 2],
    ])
    expect([[...(await one)], second.asked.length]).toEqual([[['a', 1]], 1])
  })

  test('what a caller left out is absent for others of many keys, and loaded once for those of one', async () => {
    const cache = make()
    const [first, second] = [new Many(), new Many()]
    const one = cache.getOrSetMany(['a', 'b'], first.loader)
    await settle()
    const many = [1, 2, 3].map(() => cache.getOrSetMany(['a', 'b'], second.loader))
    let loads = 0
    const alone = [1, 2, 3].map(() => cache.getOrSet('b', () => ++loads))
    await settle()
    first.end(each(['a'], 'first'))
    for (const two of [one, ...many]) expect(Object.fromEntries(await two)).toEqual({ a: 'first' })
    expect([second.asked, await Promise.all(alone), loads]).toEqual([[], [1, 1, 1], 1])
    // Each counts: a hit of `a` and a miss of `b` for each that joined.
    const { hits, misses } = await cache.stats()
    expect([hits, misses]).toEqual([3 + 2, 2 + 3 + 1])
  })

  test('what falls to a caller that waits is loaded while others load', async () => {
    const cache = make()
    const [first, second, mine] = [new Many(), new Many(), new Many()]
    const leaving = new AbortController()
    const one = cache.getOrSetMany(['a'], first.loader)
    const { signal } = leaving
    const left = cache.getOrSetMany(['b'], second.loader, { signal }).catch((error: Any) => error)
    await settle()
    const two = cache.getOrSetMany(['a', 'b'], mine.loader)
    await settle()
    const begun = mine.begun()
    leaving.abort()
    await begun
    expect(mine.asked).toEqual([['b']])
    mine.end(each(['b'], 2))
    first.end(each(['a'], 1))
    expect(Object.fromEntries(await two)).toEqual({ a: 1, b: 2 })
    expect([await left, [...(await one)]]).toEqual([signal.reason, [['a', 1]]])
  })

  test('an error goes to the caller and those that joined; the next one loads', async () => {
    const cache = make()
    const many = new Many()
    const all = [
      cache.getOrSetMany(['a', 'b'], many.loader),
      cache.getOrSet('b', () => 'never'),
      cache.getOrSetMany(['a'], () => each(['a'], 'never')),
    ]
    const settled = Promise.allSettled(all)
    await settle()
    const reason = new RangeError('mine')
    many.fail(reason)
    expect(await settled).toEqual(all.map(() => ({ status: 'rejected', reason })))
    expect(await cache.getOrSet('a', () => 'next')).toBe('next')
    await expect(
      cache.getOrSetMany(['x'], () => {
        throw reason
      }),
    ).rejects.toBe(reason)
  })

  test('of a load that another caller’s error ends, its own keys are stored all the same', async () => {
    const cache = make()
    const many = new Many()
    const failing = cache.getOrSetMany(['a'], many.loader)
    failing.catch(() => {})
    await settle()
    const both = cache.getOrSetMany(['a', 'b'], (keys: string[]) => each(keys, 'mine'))
    both.catch(() => {})
    await settle()
    many.fail(new RangeError('theirs'))
    await expect(both).rejects.toThrow('theirs')
    expect([await cache.get('b'), await cache.has('a')]).toEqual(['mine', false])
  })

  test('a set, delete or clear during the load wins, key by key', async () => {
    const cache = make()
    const many = new Many()
    const loading = cache.getOrSetMany(['a', 'b', 'c'], many.loader)
    await settle()
    await cache.set('a', 'set')
    await cache.delete('b')
    many.end(each(['a', 'b', 'c'], 'loaded'))
    expect([...(await loading).values()]).toEqual(Array(3).fill('loaded'))
    expect([await cache.get('a'), await cache.get('b'), await cache.get('c')]).toEqual([
      'set',
      undefined,
      'loaded',
    ])
  })

  test('a key that was not asked for is refused, and nothing is stored', async () => {
    const cache = make()
    await cache.set('there', 1)
    for (const loaded of [{ a: 1, x: 2 }, { a: 1, there: 2 }, 'text', undefined, [['a']], ['ab']]) {
      const loading = cache.getOrSetMany(['a', 'there'], () => loaded)
      if (Array.isArray(loaded) && Array.isArray(loaded[0])) {
        // A pair without a value.
        expect([...(await loading).keys()]).toEqual(['there'])
      } else {
        await expect(loading, JSON.stringify(loaded)).rejects.toBeInstanceOf(InvalidArgument)
      }
      expect(await cache.has('a')).toBe(false)
    }
    expect([...(await cache.getOrSetMany(['a'], () => [['a', 5]]))]).toEqual([['a', 5]])
  })

  test('what is no key was not asked for either', async () => {
    const cache = make()
    for (const key of [Object.create(null), 5, null, Symbol('mine')]) {
      const loading = cache.getOrSetMany(['a'], () => [[key, 1]])
      await expect(loading, typeof key).rejects.toThrow('which it was not asked for')
      await expect(loading, typeof key).rejects.toBeInstanceOf(InvalidArgument)
    }
  })

  test('a loader that asks for a key of its own is told', async () => {
    const cache = make()
    const own = [
      () => cache.getOrSetMany(['a', 'b'], () => cache.getOrSet('b', () => 1)),
      () => cache.getOrSetMany(['a', 'b'], () => cache.getOrSetMany(['c', 'b'], () => ({}))),
      () => cache.getOrSet('a', () => cache.getOrSetMany(['a'], () => ({}))),
    ]
    for (const act of own) await expect(act()).rejects.toBeInstanceOf(InvalidArgument)
    expect([...(await cache.getOrSetMany(['a', 'c'], (keys: string[]) => each(keys, 1)))]).toEqual([
      ['a', 1],
      ['c', 1],
    ])
  })

  test('an abort stops this caller alone', async () => {
    const cache = make()
    const [many, next] = [new Many(), new Many()]
    const controller = new AbortController()
    const { signal } = controller
    let given: unknown
    const loading = cache.getOrSetMany(
      ['a', 'b'],
      (keys: string[], context: Any) => {
        given = context.signal
        return many.loader(keys)
      },
      { signal },
    )
    loading.catch(() => {})
    await settle()
    const joined = cache.getOrSetMany(['b', 'a'], next.loader)
    await settle()
    const waiting = cache.getOrSetMany(['a'], next.loader, { signal })
    waiting.catch(() => {})
    const begun = next.begun()
    const reason = new RangeError('enough')
    controller.abort(reason)
    await expect(loading).rejects.toBe(reason)
    await expect(waiting).rejects.toBe(reason)
    await begun
    expect([given, next.asked]).toEqual([signal, [['b', 'a']]])
    next.end({ a: 1, b: 2 })
    expect(Object.fromEntries(await joined)).toEqual({ a: 1, b: 2 })
    await expect(cache.getOrSetMany(['z'], next.loader, { signal })).rejects.toBe(reason)
    expect(next.asked.length).toBe(1)
  })

  test('waits for others as long as waitTimeout, in which its own loader does not count', async () => {
    const cache = make({ waitTimeout: '63ms' })
    const [many, slow] = [new Many(), new Many()]
    const never = cache.getOrSetMany(['a'], many.loader)
    await settle()
    const waiting = cache.getOrSetMany(['a', 'b'], slow.loader)
    waiting.catch(() => {})
    await settle()
    // Longer than it may wait: this is the loader's own time.
    const { now } = performance
    performance.now = () => now.call(performance) + 10_000
    onTestFinished(() => {
      performance.now = now
    })
    slow.end(each(['b'], 2))
    await settle()
    expect((await cache.stats()).waitTimeouts).toBe(0)
    await expect(waiting).rejects.toBeInstanceOf(WaitTimeout)
    expect((await cache.stats()).waitTimeouts).toBe(1)
    expect(await cache.get('b')).toBe(2)
    many.end(each(['a'], 1))
    expect([...(await never)]).toEqual([['a', 1]])
  })

  test('a slow load is overtaken after leaseTimeout', async () => {
    const cache = make({ leaseTimeout: '63ms' })
    const many = new Many()
    const slow = cache.getOrSetMany(['a', 'b'], many.loader)
    await settle()
    const other = await cache.getOrSetMany(['b'], (keys: string[]) => each(keys, 'other'))
    expect([...other]).toEqual([['b', 'other']])
    many.end({ a: 'slow', b: 'slow' })
    expect(Object.fromEntries(await slow)).toEqual({ a: 'slow', b: 'slow' })
    expect([await cache.get('a'), await cache.get('b')]).toEqual(['slow', 'other'])
  })

  test('a value that cannot be stored is handed over, or the error raised when the others are stored', async () => {
    const cache = make()
    const odd = () => 1
    const values = await cache.getOrSetMany(['a', 'b'], () => ({ a: odd, b: 2 }))
    expect([...values.values()]).toEqual([odd, 2])
    expect([await cache.has('a'), await cache.get('b')]).toEqual([false, 2])
    expect((await cache.stats()).unstored).toBe(1)
    const raising = make({ storeErrors: 'raise' })
    const loading = raising.getOrSetMany(['a', 'b'], () => ({ a: odd, b: 2 }))
    await expect(loading).rejects.toMatchObject({ code: 'unsupported_value' })
    expect([await raising.has('a'), await raising.get('b')]).toEqual([false, 2])
    expect(await raising.getOrSet('a', () => 1)).toBe(1)
  })

  test('options, and arguments that are none', async () => {
    const cache = make({ clock: () => 1_700_000_000_000 })
    await cache.getOrSetMany(['a', 'b'], (keys: string[]) => each(keys, 1), { ttl: '5s' })
    expect([await cache.ttl('a'), await cache.ttl('b')]).toEqual([5000, 5000])
    const load = () => {
      throw new Error('it is not called')
    }
    for (const [keys, loader, options] of [
      ['text', load],
      [5, load],
      [['k'], 5],
      [['k'], load, { ttl: 5 }],
      [['k'], load, { colour: 1 }],
      [['k'], load, { signal: 1 }],
      [[], load, null],
    ] as Any[]) {
      await expect(cache.getOrSetMany(keys, loader, options)).rejects.toBeInstanceOf(
        InvalidArgument,
      )
    }
    expect([...(await cache.getOrSetMany([], load))]).toEqual([])
  })
})

test('keys of a MemoryCache are any values, and those of a cache are text or its bytes', async () => {
  const [one, other] = [{}, {}]
  const memory = new MemoryCache<object, number>({ isolation: 'none' })
  const found = await memory.getOrSetMany([one, other], (keys) =>
    keys.map((key) => [key, key === one ? 1 : 2] as const),
  )
  expect([found.get(one), found.get(other), memory.get(other)]).toEqual([1, 2, 2])
  const cache = open()
  const bytes = new TextEncoder().encode('k')
  const values = await cache.getOrSetMany(['k', bytes], (keys) => {
    expect(keys).toEqual(['k'])
    return [[bytes, 'v'] as const]
  })
  expect([values.get('k'), values.get(bytes)]).toEqual(['v', 'v'])
})

test('a MemoryCache’s time to idle', async () => {
  const memory = new MemoryCache<string, number>({ clock: () => 1_700_000_000_000 })
  await memory.getOrSetMany(['a'], () => ({ a: 1 }), { timeToIdle: '5s' })
  expect(memory.ttl('a')).toBe(5000)
  memory.getOrSetManySync(['b'], () => ({ b: 1 }), { timeToIdle: '6s', ttl: '7s' })
  expect([memory.ttl('b'), memory.entry('b')?.bytes !== 0]).toEqual([6000, true])
  const wrong = memory.getOrSetMany(['c'], () => ({ c: 1 }), { timeToIdle: 5 as Any })
  await expect(wrong).rejects.toBeInstanceOf(InvalidArgument)
})

// The first wait would be an error. So many keys that some look alike as leases.
describe('leases of its own process are not waited for', () => {
  const keys = Array.from({ length: 8000 }, (_, number) => `key ${number}`)
  const limit = '2MiB'
  const waitTimeout = '1ms'

  test.each([['by the same handle'], ['by another']])('%s', async (which) => {
    const path = folder()
    const cache = open({ path, limit, waitTimeout })
    // With a clock it shares no store.
    const other = which === 'by another' ? open({ path, waitTimeout, clock: () => 1e12 }) : cache
    const asked: number[] = []
    const values = await cache.getOrSetMany(keys, async (missing) => {
      asked.push(missing.length)
      for (const key of missing) await other.getOrSet(`inner ${key}`, () => 7)
      return each(missing, 1)
    })
    expect([values.size, asked]).toEqual([keys.length, [keys.length]])
    expect((await cache.check()).leases).toBe(0)
  })

  test('by a synchronous caller', () => {
    const cache = open({ path: folder(), limit, waitTimeout })
    const asked: number[] = []
    const values = cache.getOrSetManySync(keys, (missing) => {
      asked.push(missing.length)
      for (const key of missing) cache.getOrSetSync(`inner ${key}`, () => 7)
      return each(missing, 1)
    })
    expect([values.size, asked]).toEqual([keys.length, [keys.length]])
  })
})

describe('several processes', () => {
  test('what another process loads is waited for, after the rest was loaded', async () => {
    const path = folder()
    const cache = open({ path, limit: '4MiB' })
    const other = child(path)
    other.send('hold', 'theirs')
    expect(await other.hear()).toBe('loading')
    const many = new Many()
    const loading = cache.getOrSetMany(['mine', 'theirs'], many.loader)
    await settle()
    expect(many.asked).toEqual([['mine']])
    many.end(each(['mine'], 1))
    other.send('finish', 'value')
    expect(Object.fromEntries(await loading)).toEqual({ mine: 1, theirs: 'value' })
    expect(many.asked.length).toBe(1)
  })

  test('when it dies, its key falls to this caller', async () => {
    const path = folder()
    const cache = open({ path, limit: '4MiB' })
    const other = child(path)
    other.send('hold', 'theirs')
    expect(await other.hear()).toBe('loading')
    const many = new Many()
    const loading = cache.getOrSetMany(['theirs'], many.loader)
    await settle()
    expect(many.asked).toEqual([])
    const begun = many.begun()
    await other.killed()
    await begun
    many.end(each(['theirs'], 'ours'))
    expect([...(await loading)]).toEqual([['theirs', 'ours']])
  })
})

test.each(CACHES)('%s: an async generator is not a result', async (_, make) => {
  const cache = make()
  const loader = async function* (keys: string[]) {
    for (const key of keys) yield [key, 1]
  }
  await expect(cache.getOrSetMany(['a'], loader)).rejects.toBeInstanceOf(InvalidArgument)
  expect(await cache.has('a')).toBe(false)
})

test('a MemoryCache with numbers for keys: the keys of an object are text', async () => {
  const cache = new MemoryCache<Any>()
  const byObject = cache.getOrSetMany([1, 2], (ids: Any[]) =>
    Object.fromEntries(ids.map((id) => [id, id])),
  )
  await expect(byObject).rejects.toThrow(
    'the loader returned the key "1", which it was not asked for',
  )
  await expect(byObject).rejects.toThrow('for number keys return a Map')
  const values = await cache.getOrSetMany([1, 2], (ids: Any[]) =>
    ids.map((id) => [id, id] as const),
  )
  expect([...values.keys()]).toEqual([1, 2])
})

test.each(CACHES.slice(0, 2))(
  '%s: each form of a key is given a value of its own',
  async (_, make) => {
    const cache = make()
    const bytes = [1, 2].map(() => new TextEncoder().encode('k'))
    const load = () => cache.getOrSetMany(['k', ...bytes], () => ({ k: { list: [1] } }))
    for (const values of [await load(), await load(), await cache.getMany(['k', ...bytes])]) {
      expect([...values.values()]).toEqual([1, 2, 3].map(() => ({ list: [1] })))
      expect(new Set(values.values()).size).toBe(3)
    }
    const unstorable = await cache.getOrSetMany(['f', bytes[0]], () => ({ f: () => 1 }))
    expect(unstorable.size).toBe(2)
  },
)
