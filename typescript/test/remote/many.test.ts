/** Several keys in one call: one round trip to each server. */
import { expect, onTestFinished, test } from 'vitest'
import type { Cache } from '../../src/index.ts'
import { RedisCluster } from '../support/redis-cluster.ts'
import { everywhere, hasServer, Site } from '../support/remote-caches.ts'

const keys = Array.from({ length: 100 }, (_, at) => `k${at}`)
const entries = keys.map((key, at) => [key, at] as const)

async function roundTrips(cache: Cache, work: () => Promise<unknown>): Promise<number> {
  const now = () => cache.remoteStats()?.roundTrips ?? 0
  const before = now()
  await work()
  return now() - before
}

/** A cache that reads through: nobody listens, so all round trips are the operations'. */
async function readsThrough(url: string): Promise<Cache> {
  const cache = new Site({ url }).open({ maxStaleness: 0 })
  await cache.set('warm', 'up')
  return cache.namespace('shop')
}

everywhere((server) => {
  test('a hundred keys take one round trip', async () => {
    const cache = await readsThrough(server().url)
    expect(await roundTrips(cache, () => cache.setMany(entries))).toBe(1)
    let found = new Map<string, unknown>()
    const read = async () => {
      found = await cache.getMany(keys)
    }
    expect(await roundTrips(cache, read)).toBe(1)
    expect([...found]).toEqual(entries)
    let deleted = 0
    const remove = async () => {
      deleted = await cache.deleteMany([...keys.slice(50), 'k0', 'gone'])
    }
    expect(await roundTrips(cache, remove)).toBe(1)
    expect(deleted).toBe(51)
    expect((await cache.getMany(keys)).size).toBe(49)
    const { hits, misses, writes, deletes } = await cache.stats()
    expect({ hits, misses, writes, deletes }).toEqual({
      hits: 149,
      misses: 51,
      writes: 101,
      deletes: 51,
    })
  })

  test('no keys at all take none', async () => {
    const cache = await readsThrough(server().url)
    const nothing = async () => {
      await cache.setMany([])
      expect(await cache.getMany([])).toEqual(new Map())
      expect(await cache.deleteMany([])).toBe(0)
    }
    expect(await roundTrips(cache, nothing)).toBe(0)
  })

  test('what is too heavy is refused, and what came before it is stored', async () => {
    const cache = new Site(server()).open({ maxValue: '64KiB' })
    const heavy = cache.setMany([
      ['first', 1],
      ['heavy', 'x'.repeat(100_000)],
      ['third', 3],
    ])
    await expect(heavy).rejects.toMatchObject({ code: 'value_too_large' })
    expect([...(await cache.getMany(['first', 'heavy', 'third']))]).toEqual([['first', 1]])
  })
})

test.skipIf(!hasServer)('a hundred keys of a Cluster', async () => {
  const cluster = await RedisCluster.start()
  onTestFinished(() => cluster.stop())
  const { Cluster } = await import('ioredis')
  const nodes = cluster.ports.map((port) => ({ host: '127.0.0.1', port }))
  const client = new Cluster(nodes, { lazyConnect: true })
  const site = new Site({ url: '' })
  const [one, other] = [site.host({ remote: client }), site.host({ remote: client })]
  await one.setMany(entries)
  expect([...(await other.getMany(keys))]).toEqual(entries)
  expect(await other.deleteMany(keys)).toBe(100)
  client.disconnect()
})
