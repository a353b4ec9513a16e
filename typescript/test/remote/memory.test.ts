/** The memory tier over copies of what a server holds. */
import { expect, test } from 'vitest'
import { type Cache, type CacheOptions, Decimal } from '../../src/index.ts'
import { until } from '../support/redis-server.ts'
import { everywhere, hasServer, listening, ownServer, Site } from '../support/remote-caches.ts'

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

const memoryHits = async (cache: Cache) => (await cache.stats()).memoryHits ?? 0

/** Reads a key until memory answers. */
async function kept(cache: Cache, key: string, value: unknown): Promise<void> {
  await until(async () => {
    const before = await memoryHits(cache)
    expect(await cache.get(key)).toEqual(value)
    return (await memoryHits(cache)) > before
  })
}

everywhere((server) => {
  const places = { directory: 'host', 'no directory': 'open' } as const
  for (const [name, opens] of Object.entries(places)) {
    const two = async (options: Partial<CacheOptions> = {}): Promise<[Cache, Cache]> => {
      const site = new Site(server())
      return [await listening(site[opens](options)), site.open(options)]
    }

    test(`with ${name}, objects in memory answer without a look at the copy`, async () => {
      const [cache] = await two()
      await cache.set('k', { a: [1] })
      await kept(cache, 'k', { a: [1] })
      const hits = await memoryHits(cache)
      const before = cache.remoteStats()
      for (let turn = 0; turn < 100; turn++) expect(await cache.get('k')).toEqual({ a: [1] })
      expect(await memoryHits(cache)).toBe(hits + 100)
      expect(cache.remoteStats()).toMatchObject({
        nearHits: before?.nearHits,
        remoteHits: before?.remoteHits,
      })
      // Each reader has an object of its own.
      const mine = await cache.get<{ a: number[] }>('k')
      mine?.a.push(2)
      expect(await cache.get('k')).toEqual({ a: [1] })
    })

    test(`with ${name}, every change ends them`, async () => {
      const [cache, far] = await two()
      const reads = (value: unknown) => until(async () => (await cache.get('k')) === value)
      for (let turn = 0; turn < 20; turn++) {
        await far.set('k', turn)
        await reads(turn)
        await kept(cache, 'k', turn)
      }
      await cache.set('k', 'own')
      expect(await cache.get('k')).toBe('own')
      await kept(cache, 'k', 'own')
      await cache.increment('n', 1)
      await kept(cache, 'n', 1)
      await cache.increment('n', 1)
      expect(await cache.get('n')).toBe(2)
      expect(await cache.delete('k')).toBe(true)
      expect(await cache.get('k')).toBeUndefined()
      await far.set('k', 'cleared')
      await reads('cleared')
      await kept(cache, 'k', 'cleared')
      await far.clear()
      await reads(undefined)
    })

    test(`with ${name}, as isolation says`, async () => {
      const [none] = await two({ memory: { isolation: 'none' } })
      await none.set('k', { a: 1 })
      await kept(none, 'k', { a: 1 })
      expect(await none.get('k')).toBe(await none.get('k'))
      const [frozen] = await two({ memory: { isolation: 'freeze' } })
      await frozen.set('k', { a: [1] })
      expect(Object.isFrozen(await frozen.get('k'))).toBe(true)
      await kept(frozen, 'k', { a: [1] })
      expect(Object.isFrozen(await frozen.get('k'))).toBe(true)
      expect(await frozen.getOrSet('l', () => ({ b: 1 }))).toEqual({ b: 1 })
      const [without] = await two({ memory: false })
      await without.set('k', { a: 1 })
      for (let turn = 0; turn < 10; turn++) expect(await without.get('k')).toEqual({ a: 1 })
      expect(await memoryHits(without)).toBe(0)
    })

    test(`with ${name}, values of registered types are those of each reader`, async () => {
      const isolations = ['clone', 'freeze', 'none'] as const
      for (const isolation of isolations) {
        const [cache] = await two({ types, memory: { isolation } })
        const money = { of: new Money(new Decimal('1.50')) }
        await cache.set('k', money)
        await kept(cache, 'k', money)
        const again = await cache.get<typeof money>('k')
        expect(again?.of).toBeInstanceOf(Money)
        expect(again === (await cache.get('k'))).toBe(isolation === 'none')
      }
    })
  }

  test('entries expire in memory', async () => {
    let now = Date.now()
    const site = new Site(server())
    const cache = await listening(site.open({ clock: () => now }))
    await cache.set('k', 'v', { ttl: '1m' })
    await kept(cache, 'k', 'v')
    now += 61_000
    expect(await cache.get('k')).toBeUndefined()
  })

  test('a full tier evicts, and serves what is true', async () => {
    const site = new Site(server())
    const cache = await listening(site.host({ memory: { maxEntries: 8 } }))
    const far = site.open()
    for (let turn = 0; turn < 3; turn++) {
      for (let key = 0; key < 64; key++) await far.set(`k${key}`, `${turn} ${key}`)
      for (let key = 0; key < 64; key++) {
        await until(async () => (await cache.get(`k${key}`)) === `${turn} ${key}`)
        expect(await cache.get(`k${key}`)).toBe(`${turn} ${key}`)
      }
    }
    for (let round = 0; round < 4; round++) await kept(cache, `k${round}`, `2 ${round}`)
  })
})

test.skipIf(!hasServer)('without news, memory serves for maxStaleness at most', async () => {
  const server = await ownServer()
  const site = new Site(server)
  const cache = await listening(site.host({ timeout: '300ms' }))
  await cache.set('k', 'v')
  await kept(cache, 'k', 'v')
  await server.stop()
  await until(async () => (await cache.get('k')) === undefined)
  expect(await cache.get('k')).toBeUndefined()
  expect(await cache.getOrSet('k', () => 'loaded')).toBe('loaded')
})

test.skipIf(!hasServer)('a closed cache has nothing in memory', async () => {
  const cache = await listening(new Site(await ownServer()).host())
  await cache.set('k', 'v')
  await kept(cache, 'k', 'v')
  await cache.close()
  await expect(cache.get('k')).rejects.toMatchObject({ code: 'closed' })
})
