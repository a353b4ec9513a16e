/** Cached reads over Clusters: of three primaries, each with a replica. */
import { Cluster } from 'ioredis'
import { Cluster as Cluster5 } from 'ioredis-5'
import { createCluster } from 'redis'
import { createCluster as createCluster5 } from 'redis-5'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { InvalidArgument } from '../../src/errors.ts'
import {
  type CachedOptions,
  type CachedReads,
  cached,
  UncacheableRead,
} from '../../src/reads/index.ts'
import { slotOf } from '../../src/reads/slots.ts'
import { wayOf } from '../../src/reads/ways.ts'
import { namespaced } from '../../src/redis-namespace/index.ts'
import { folder } from '../support/caches.ts'
import { RedisCluster } from '../support/redis-cluster.ts'
import { PROGRAMS, until } from '../support/redis-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: each client has other methods
type Any = any

let servers: RedisCluster
let prefixes = 0

const nodes = () => servers.ports.map((port) => ({ host: '127.0.0.1', port }))
const clients: Readonly<Record<string, () => Promise<Any>>> = {
  'ioredis 6': async () => ended(new Cluster(nodes())),
  'ioredis 6, RESP3': async () => ended(new Cluster(nodes(), { redisOptions: { protocol: 3 } })),
  'ioredis 5': async () => ended(new Cluster5(nodes())),
  'node-redis': () => connected(),
  'node-redis, RESP2': () => connected({ RESP: 2 }),
}

function ended<C extends { disconnect(): void; on(event: 'error', hears: () => void): unknown }>(
  client: C,
): C {
  client.on('error', () => {})
  onTestFinished(() => client.disconnect())
  return client
}

async function connected(options: object = {}): Promise<Any> {
  const rootNodes = servers.ports.map((port) => ({ url: `redis://127.0.0.1:${port}` }))
  const client = createCluster({ rootNodes, ...options })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.destroy())
  return client
}

function open(client: object, given: CachedOptions = {}): CachedReads<Any> {
  const prefix = `reads-${process.pid}-${prefixes++}`
  const reads = cached(client, { prefix, timeout: '5s', maxStaleness: '10s', ...given })
  onTestFinished(() => reads.close())
  return reads as CachedReads<Any>
}

/** Waits until a read is kept; what it gives. */
async function kept(reads: Any, read: () => Promise<unknown>): Promise<unknown> {
  let value: unknown
  await until(async () => {
    const before = reads.stats().memoryHits
    await read()
    value = await read()
    return reads.stats().memoryHits > before
  })
  return value
}

async function write(key: string, value: string): Promise<void> {
  await until(async () => {
    const owner = await servers.owner(key).catch(() => undefined)
    return (await owner?.plain('SET', key, value)) === '+OK'
  })
}

if (PROGRAMS[0] === 'redis-server') describe('cached reads over a Cluster', onCluster)

function onCluster(): void {
  beforeAll(async () => {
    servers = await RedisCluster.start(1)
  }, 60_000)
  afterAll(() => servers.stop())

  describe.each(Object.keys(clients))('%s', (name) => {
    const connect = clients[name]

    it('gives what the client gives, from the server, from memory and from the host', async () => {
      const client = await connect()
      const owner = await servers.owner('{k}t')
      await owner.plain('DEL', '{k}t', '{k}x', '{k}h', '{k}z')
      await owner.plain('SET', '{k}t', 'text')
      await owner.plain('XADD', '{k}x', '*', 'name', 'one')
      await owner.plain('HSET', '{k}h', 'a', '1', 'ü', 'ö')
      await owner.plain('ZADD', '{k}z', '1', 'a', '2.5', 'b')
      const calls: [string, ...unknown[]][] = name.startsWith('ioredis')
        ? [
            ['get', '{k}t'],
            ['getBuffer', '{k}t'],
            ['mget', '{k}t', '{k}none'],
            ['exists', '{k}t', '{k}none'],
            ['xrange', '{k}x', '-', '+'],
            ['hgetall', '{k}h'],
            ['zrange', '{k}z', 0, -1, 'WITHSCORES'],
            ['eval_ro', "return {redis.call('get', KEYS[1]), ARGV[1]}", 1, '{k}t', 'x'],
            ['call', 'GET', '{k}t'],
          ]
        : [
            ['get', '{k}t'],
            ['mGet', ['{k}t', '{k}none']],
            ['exists', ['{k}t', '{k}none']],
            ['xRange', '{k}x', '-', '+'],
            ['hGetAll', '{k}h'],
            ['zRangeWithScores', '{k}z', 0, -1],
            ['evalRo', "return redis.call('get', KEYS[1])", { keys: ['{k}t'], arguments: [] }],
          ]
      const given = { path: folder(), limit: '16MiB', prefix: `reads-${process.pid}-${name}` }
      const reads = open(client, given) as Any
      const other = open(client, given) as Any
      for (const [method, ...words] of calls) {
        const expected = await client[method](...words)
        expect(await kept(reads, () => reads[method](...words)), method).toEqual(expected)
        const before = other.stats().hostHits
        expect(await other[method](...words), method).toEqual(expected)
        expect(other.stats().hostHits, `${method} of the host`).toBe(before + 1)
      }
    })

    it('shows what another program writes, whichever primary has the key', async () => {
      const reads = open(await connect(), { path: folder(), limit: '16MiB' }) as Any
      const keys = Array.from({ length: 9 }, (_, at) => `c:${at}`)
      expect(new Set(await Promise.all(keys.map((key) => servers.owner(key)))).size).toBe(3)
      for (const value of ['first', 'second']) {
        for (const key of keys) await write(key, value)
        for (const key of keys) {
          await until(async () => (await reads.get(key)) === value)
          expect(await kept(reads, () => reads.get(key))).toBe(value)
        }
      }
      const owner = await servers.owner(keys[0])
      await owner.plain('FLUSHALL')
      await until(async () => (await reads.get(keys[0])) === null)
    })

    it('keeps nothing that another node answered than the one that was asked', async () => {
      const client = await connect()
      await write('moved', 'there')
      await allConnected(client)
      const way = wayOf(client)
      const slot = slotOf('moved')
      const read = async (): Promise<[unknown, boolean]> => {
        const line = await way.lineTo?.(slot)
        const epoch = line?.epoch()
        expect(epoch).toBeDefined()
        const value = await line?.read(way.prepare('get', ['moved']))
        return [value, line?.epoch() === epoch]
      }
      expect(await read()).toEqual(['there', true])
      // As if the client's map of slots were old.
      client.slots[slot] = client.slots.find(
        (one: Any) => ownerOf(one) !== ownerOf(client.slots[slot]),
      )
      expect(await read()).toEqual(['there', false])
    })

    it('refuses keys of several slots', async () => {
      const reads = open(await connect()) as Any
      const many = name.startsWith('ioredis') ? reads.mget('a', 'b') : reads.mGet(['a', 'b'])
      await expect(many).rejects.toThrow(UncacheableRead)
      await expect(many).rejects.toThrow(/several slots/)
    })

    it("knows a namespace's keys", async () => {
      const reads = open(namespaced(await connect(), { namespace: 'ns' })) as Any
      await write('ns:a', '1')
      expect(await kept(reads, () => reads.get('a'))).toBe('1')
      await write('ns:a', '2')
      await until(async () => (await reads.get('a')) === '2')
    })

    it('follows a slot that moves', async () => {
      const key = `moves:${name}`
      await write(key, '1')
      const reads = open(await connect(), { path: folder(), limit: '16MiB' }) as Any
      await kept(reads, () => reads.get(key))
      for (const value of ['2', '3']) {
        const move = await servers.moving(key, await servers.another(key))
        await reads.get(key)
        await move()
        await write(key, value)
        await until(async () => (await reads.get(key)) === value)
        expect(await kept(reads, () => reads.get(key))).toBe(value)
      }
    })
  })

  it("knows the keys of ioredis' keyPrefix, of the Cluster and of its nodes", async () => {
    for (const options of [{ keyPrefix: 'ns:' }, { redisOptions: { keyPrefix: 'ns:' } }]) {
      const reads = open(ended(new Cluster(nodes(), options))) as Any
      await write('ns:a', '1')
      expect(await kept(reads, () => reads.get('a'))).toBe('1')
      await write('ns:a', '2')
      await until(async () => (await reads.get('a')) === '2')
    }
  })

  it('refuses clients that read from replicas, or that keep replies themselves', async () => {
    for (const scaleReads of ['slave', 'all'] as const) {
      const client = ended(new Cluster(nodes(), { scaleReads }))
      expect(() => cached(client)).toThrow(/scaleReads/)
    }
    const rootNodes = servers.ports.map((port) => ({ url: `redis://127.0.0.1:${port}` }))
    expect(() => cached(createCluster({ rootNodes, useReplicas: true }))).toThrow(/useReplicas/)
    const clientSideCache = { ttl: 0, maxEntries: 0, evictPolicy: 'LRU' as const }
    expect(() => cached(createCluster({ rootNodes, clientSideCache }))).toThrow(/clientSideCache/)
    expect(() => cached(createCluster({ rootNodes, keyPrefix: 'ns:' }))).toThrow(/keyPrefix/)
    expect(() => cached(createCluster5({ rootNodes }))).toThrow(InvalidArgument)
  })

  it('finds slots as servers do', async () => {
    const owner = await servers.owner('k')
    for (const key of ['', 'k', '{a}b', 'b{a}', '{}a', '{a', 'a}{b}', '{{a}}', 'üñ', '123456789']) {
      expect(await owner.plain('CLUSTER', 'KEYSLOT', key), key).toBe(`:${slotOf(key)}`)
    }
  })

  // The last ones: they leave fewer servers.
  describe.each(['ioredis 6', 'ioredis 5', 'node-redis'])('%s', (name) => {
    it('goes on with the replica when a primary is killed', async () => {
      const key = `killed:${name}`
      await write(key, '1')
      const reads = open(await clients[name](), { path: folder(), limit: '16MiB' }) as Any
      await kept(reads, () => reads.get(key))
      await servers.failOver(key)
      await write(key, '2')
      await until(async () => (await reads.get(key).catch(() => undefined)) === '2')
      expect(await kept(reads, () => reads.get(key).catch(() => undefined))).toBe('2')
    }, 60_000)
  })
}

/** Waits until a client has a connection to each primary. */
async function allConnected(client: Any): Promise<void> {
  await until(() => client.slots.length > 0)
  const nodes = client.masters?.map((one: unknown) => client.nodeClient(one))
  await Promise.all((nodes ?? client.nodes('master')).map(async (node: Any) => (await node).ping()))
}

/** The primary, in what a client says of a slot. */
function ownerOf(one: Any): unknown {
  return one.master?.address ?? one[0]
}
