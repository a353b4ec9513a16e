/** Two caches with a directory each are two hosts. */
import { expect, test } from 'vitest'
import type { Cache } from '../../src/index.ts'
import { DELETE, Decimal } from '../../src/index.ts'
import { until } from '../support/redis-server.ts'
import { everywhere, listening, Site } from '../support/remote-caches.ts'

everywhere((server) => {
  const site = () => new Site(server())

  /** Two hosts that hear of writes. */
  async function two(): Promise<[Cache, Cache, Site]> {
    const here = site()
    return [await listening(here.host()), await listening(here.host()), here]
  }

  test('a write is heard by the other host, whose copy it voids', async () => {
    const [one, other] = await two()
    for (let turn = 0; turn < 20; turn++) {
      await one.set('k', { turn })
      await until(async () => (await other.get<{ turn: number }>('k'))?.turn === turn)
      expect(await other.get('k')).toEqual({ turn })
    }
    await one.delete('k')
    await until(async () => (await other.get('k')) === undefined)
  })

  test('what was read is served again without a round trip', async () => {
    const here = site()
    const one = here.host()
    const other = await listening(here.host({ memory: false }))
    await one.set('k', 'v')
    await until(async () => (await other.get('k')) === 'v')
    // The message of the write may come after a first copy, and void it.
    await until(async () => {
      const before = other.remoteStats()
      for (let turn = 0; turn < 100; turn++) expect(await other.get('k')).toBe('v')
      const after = other.remoteStats()
      return (
        after?.nearHits === (before?.nearHits ?? 0) + 100 && after.remoteHits === before?.remoteHits
      )
    })
  })

  test('the machine counts what programs did', async () => {
    const cache = await listening(site().host())
    await cache.set('k', 'v')
    for (let turn = 0; turn < 200; turn++) expect(await cache.get('k')).toBe('v')
    let loads = 0
    const load = async () => {
      await new Promise((done) => setTimeout(done, 5))
      return ++loads
    }
    expect(await Promise.all([1, 2, 3].map(() => cache.getOrSet('l', load)))).toEqual([1, 1, 1])
    expect(await cache.take('k')).toBe('v')
    const own = await cache.stats()
    const machine = await cache.machineStats()
    const { hits, misses, writes, deletes } = own
    expect(machine).toMatchObject({ hits, misses, writes, deletes, joinedHits: 2, loads: 1 })
    expect(cache.remoteStats()?.joinedHits).toBe(2)
    const { memoryHits = 0, nearHits = 0, remoteHits = 0, joinedHits = 0 } = machine ?? {}
    expect(memoryHits).toBeGreaterThan(0)
    expect(memoryHits + nearHits + remoteHits + joinedHits).toBe(hits)
    expect(machine).toMatchObject({ faults: 0, lastFaultAt: 0, lastOpenAt: 0 })
  })

  test('an own write, then an own read', async () => {
    const [one] = await two()
    for (let turn = 0; turn < 200; turn++) {
      await one.set('k', turn)
      expect(await one.get('k')).toBe(turn)
      expect(await one.get('k')).toBe(turn)
      if (turn % 3 === 0) {
        expect(await one.delete('k')).toBe(true)
        expect(await one.get('k')).toBeUndefined()
      }
      if (turn % 3 === 1) expect(await one.increment('k')).toBe(turn + 1)
      if (turn % 3 === 1) expect(await one.get('k')).toBe(turn + 1)
    }
  })

  test('an own write is not hidden by a load that joins readers', async () => {
    const [one] = await two()
    for (let turn = 0; turn < 100; turn++) {
      const readers = [1, 2, 3].map(() => one.getOrSet('k', () => -1))
      await one.set('k', turn)
      expect(await one.getOrSet('k', () => -1)).toBe(turn)
      await Promise.all(readers)
    }
  })

  test('a foreign SET is no entry, a foreign DEL and FLUSHALL are heard', async () => {
    const [one, other, here] = await two()
    await one.set('k', 'v')
    await until(async () => (await other.get('k')) === 'v')
    await server().plain('SET', here.key('k'), 'foreign')
    await until(async () => {
      const failed = await other.get('k').then(
        () => undefined,
        (error: { code: string }) => error.code,
      )
      return failed === 'malformed_entry'
    })
    await one.set('k', 'again')
    await until(async () => (await other.get('k')) === 'again')
    await server().plain('DEL', here.key('k'))
    await until(async () => (await other.get('k')) === undefined)
    await one.set('k', 'more')
    await until(async () => (await other.get('k')) === 'more')
    await server().plain('FLUSHALL')
    await until(async () => (await other.get('k')) === undefined)
    expect(await one.get('k')).toBeUndefined()
    await one.set('k', 'after')
    await until(async () => (await other.get('k')) === 'after')
  })

  test('a clear of a namespace, with those nested in it, and no other', async () => {
    const [one, other] = await two()
    const shop = one.namespace('shop')
    await shop.set('k', 1)
    await shop.namespace('inner').set('k', 2)
    await one.namespace('shop2').set('k', 3)
    await until(async () => (await other.namespace('shop').get('k')) === 1)
    await shop.clear()
    expect(await shop.get('k')).toBeUndefined()
    await until(async () => (await other.namespace('shop').get('k')) === undefined)
    await until(
      async () => (await other.namespace('shop').namespace('inner').get('k')) === undefined,
    )
    expect(await other.namespace('shop2').get('k')).toBe(3)
  })

  test('one loader for two hosts', async () => {
    const [one, other] = await two()
    let loads = 0
    const load = async () => {
      loads++
      await new Promise((resolve) => setTimeout(resolve, 50))
      return 'loaded'
    }
    const callers = [one, other].flatMap((cache) =>
      Array.from({ length: 20 }, () => cache.getOrSet('k', load)),
    )
    expect(new Set(await Promise.all(callers))).toEqual(new Set(['loaded']))
    expect(loads).toBe(1)
    expect(await one.get('k')).toBe('loaded')
  })

  test('one loader for each key that several ask for', async () => {
    const [one, other] = await two()
    await one.set('a', 'there')
    const loaded: string[] = []
    const load = async (keys: string[]) => {
      loaded.push(...keys)
      await new Promise((resolve) => setTimeout(resolve, 50))
      return new Map(keys.map((key) => [key, `${key}!`]))
    }
    const [left, right] = await Promise.all([
      one.getOrSetMany(['a', 'b', 'c', 'd'], load),
      other.getOrSetMany(['d', 'c', 'e', 'a'], load),
    ])
    expect([...left]).toEqual([
      ['a', 'there'],
      ['b', 'b!'],
      ['c', 'c!'],
      ['d', 'd!'],
    ])
    expect([...right].map(([key]) => key)).toEqual(['d', 'c', 'e', 'a'])
    expect(loaded.sort()).toEqual(['b', 'c', 'd', 'e'])
  })

  test('counting, updates and locks are those of all hosts', async () => {
    const [one, other] = await two()
    const adds = [one, other].flatMap((cache) =>
      Array.from({ length: 20 }, () => cache.increment('n')),
    )
    const sums = await Promise.all(adds)
    expect(new Set(sums).size).toBe(40)
    expect(await one.get('n')).toBe(40)
    for (const cache of [one, other]) {
      await cache.update('list', (list: number[] = []) => [...list, list.length])
    }
    expect(await one.get('list')).toEqual([0, 1])
    await one.update('list', () => DELETE)
    expect(await other.get('list')).toBeUndefined()

    const lease = one.lease('job')
    expect(await lease.acquire()).toBe(true)
    expect(await other.lease('job').acquire(false)).toBe(false)
    expect(await other.lease('job').locked()).toBe(true)
    const waiting = other.lease('job').acquire()
    await lease.release()
    expect(await waiting).toBe(true)
  })

  test('many keys at once, in the order that they were asked for', async () => {
    const [one, other] = await two()
    await one.setMany(Array.from({ length: 300 }, (_, at) => [`k${at}`, at] as const))
    const keys = Array.from({ length: 300 }, (_, at) => `k${299 - at}`)
    const found = await other.getMany([...keys, 'missing'])
    expect([...found.keys()]).toEqual(keys)
    expect(found.get('k7')).toBe(7)
    const listed: unknown[] = []
    for await (const key of other.keys('k1')) listed.push(key)
    expect(listed.length).toBe(111)
    expect(await other.deletePrefix('k1')).toBe(111)
    expect(await one.deleteMany(['k2', 'k3', 'gone'])).toBe(2)
    const failing = one.setMany([
      ['first', 1],
      ['second', () => {}],
      ['third', 3],
    ])
    await expect(failing).rejects.toMatchObject({ code: 'unsupported_value' })
    expect([...(await one.getMany(['first', 'second', 'third']))]).toEqual([['first', 1]])
  })

  test('values of every kind, large ones, and registered types', async () => {
    class Money {
      readonly amount: Decimal
      constructor(amount: Decimal) {
        this.amount = amount
      }
    }
    const types = {
      money: {
        class: Money,
        encode: ({ amount }: Money) => amount,
        decode: (amount: unknown) => new Money(amount as Decimal),
      },
    }
    const here = site()
    const one = here.host({ types, compressor: 'smart' })
    const other = here.host({ types })
    const values = [null, 0, '', 'é', 2n ** 63n, new Uint8Array([1, 2]), 'x'.repeat(3_000_000)]
    for (const value of [...values, [{ a: values }]]) {
      await one.set('k', value)
      await until(
        async () =>
          JSON.stringify(toPlain(await other.get('k'))) === JSON.stringify(toPlain(value)),
      )
      expect(await other.get('k')).toEqual(value)
    }
    await one.set('price', { of: new Money(new Decimal('1.50')) })
    const read = await other.get<{ of: Money }>('price')
    expect(read?.of).toBeInstanceOf(Money)
    expect(String(read?.of.amount)).toBe('1.50')
  })
})

function toPlain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map(toPlain)
  if (value !== null && typeof value === 'object' && !(value instanceof Uint8Array)) {
    return Object.entries(value).map(toPlain)
  }
  return value
}
