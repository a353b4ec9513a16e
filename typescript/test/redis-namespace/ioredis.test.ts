/** ioredis' own ways of calling commands. */
import { Cluster, Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { InvalidArgument, namespaced } from '../../src/redis-namespace/index.ts'
import { failure } from '../support/failure.ts'
import { RedisCluster } from '../support/redis-cluster.ts'
import { PROGRAMS, RedisServer, until } from '../support/redis-server.ts'

const [PROGRAM] = PROGRAMS

if (PROGRAM !== undefined) describe('ioredis', onServer)
if (PROGRAM === 'redis-server') describe('a cluster of ioredis', onCluster)

function onServer(): void {
  let server: RedisServer
  let bare: Redis
  let shop: Redis

  beforeAll(async () => {
    server = await RedisServer.start(PROGRAM)
  })
  afterAll(() => server.stop())
  beforeEach(async () => {
    bare = new Redis(server.port)
    await bare.flushall()
    shop = namespaced(bare, { namespace: 'shop' })
  })
  afterEach(() => bare.disconnect())

  const stored = async () => (await bare.keys('*')).sort()

  test('methods, callbacks and bytes', async () => {
    await shop.set('a', '1', 'EX', 100)
    await shop.mset({ b: '2', c: '3' })
    await shop.hset('h', { f: 'v' })
    expect(await stored()).toEqual(['shop:a', 'shop:b', 'shop:c', 'shop:h'])
    expect(await shop.mget(['a', 'b', 'none'])).toEqual(['1', '2', null])
    expect(await shop.getBuffer('a')).toEqual(Buffer.from('1'))
    expect(await shop.hgetall('h')).toEqual({ f: 'v' })
    expect((await shop.keysBuffer('*')).map(String).sort()).toEqual(['a', 'b', 'c', 'h'])
    const [error, reply] = await new Promise<unknown[]>((resolve) => {
      shop.get('a', (...told) => resolve(told))
    })
    expect([error, reply]).toEqual([null, '1'])
    expect(await shop.dbsize()).toBe(4)
    expect(await shop.randomkeyBuffer()).toBeInstanceOf(Buffer)
    expect(await shop.flushdb()).toBe('OK')
    expect(await stored()).toEqual([])
    expect(shop).toBeInstanceOf(Redis)
    expect(shop.status).toBe('ready')
  })

  test('a client that asks a Sentinel', async () => {
    if (PROGRAM !== 'redis-server') return
    const sentinel = await RedisServer.sentinel(server.port)
    const sentinels = [{ host: '127.0.0.1', port: sentinel.port }]
    const asking = new Redis({ sentinels, name: 'main' })
    const inShop = namespaced(asking, { namespace: 'shop' })
    await inShop.set('a', '1')
    expect(await inShop.keys('*')).toEqual(['a'])
    expect(await stored()).toEqual(['shop:a'])
    asking.disconnect()
    await sentinel.stop()
  })

  test('a method whose reply ioredis mistakes after RESET', async () => {
    await shop.xadd('st', '1-1', 'f', 'v')
    await shop.call('RESET')
    const reply = await shop.xread('STREAMS', 'st', '0')
    expect(JSON.stringify(reply)).toContain('"st"')
  })

  test('pipelines and transactions in every form', async () => {
    const pipelined = await shop.pipeline().set('a', '1').keys('*').get('a').exec()
    expect(pipelined).toEqual([
      [null, 'OK'],
      [null, ['a']],
      [null, '1'],
    ])
    const listed = await shop
      .pipeline([
        ['set', 'b', '2'],
        ['get', 'b'],
      ])
      .exec()
    expect(listed?.map(([, reply]) => reply)).toEqual(['OK', '2'])
    const multi = await shop
      .multi()
      .set('a', '1')
      .rpush('l', 'x')
      .lmpop(1, 'l', 'LEFT')
      .keys('shop:*')
      .exec()
    expect(multi?.map(([, reply]) => reply)).toEqual(['OK', 1, ['l', ['x']], []])
    const inside = await shop.pipeline([['multi'], ['keys', 'a'], ['exec'], ['get', 'a']]).exec()
    expect(inside?.map(([, reply]) => reply)).toEqual(['OK', 'QUEUED', [['a']], '1'])
    await shop.multi({ pipeline: false })
    await shop.set('c', '3')
    await shop.keys('c')
    expect(await shop.exec()).toEqual([
      [null, 'OK'],
      [null, ['c']],
    ])
    expect(await stored()).toEqual(['shop:a', 'shop:b', 'shop:c'])
  })

  test('a transaction that is held open refuses what is several commands', async () => {
    await shop.multi({ pipeline: false })
    await expect(shop.dbsize()).rejects.toMatchObject({ code: 'command_not_allowed' })
    await shop.discard()
    expect(await shop.dbsize()).toBe(0)
  })

  test('a refused command fails its pipeline, also by callback', async () => {
    const sent = shop.pipeline().set('a', '1').flushall()
    await expect(sent.exec()).rejects.toMatchObject({ code: 'command_not_allowed' })
    const error = await new Promise((resolve) => {
      shop
        .multi()
        .set('a', '1')
        .flushdb()
        .exec(resolve)
        .catch(() => {})
    })
    expect(error).toMatchObject({ code: 'command_not_allowed' })
    expect(await stored()).toEqual([])
  })

  test('pipelines that ioredis fills by itself', async () => {
    const client = new Redis(server.port, { enableAutoPipelining: true })
    const inShop = namespaced(client, { namespace: 'shop' })
    const results = await Promise.allSettled([
      inShop.set('a', '1'),
      client.set('a', 'bare'),
      inShop.flushall(),
      inShop.get('a'),
      inShop.keys('*'),
      client.get('a'),
      inShop.dbsize(),
    ])
    const said = results.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.code))
    expect(said.slice(0, 6)).toEqual(['OK', 'OK', 'command_not_allowed', '1', ['a'], 'bare'])
    expect(await inShop.dbsize()).toBe(1)
    expect(await stored()).toEqual(['a', 'shop:a'])
    client.disconnect()
  })

  test('scripts that are commands, loaded and not loaded, in pipelines too', async () => {
    bare.defineCommand('put', {
      numberOfKeys: 1,
      lua: "redis.call('SET', KEYS[1], ARGV[1]) return KEYS[1]",
    })
    const scripted = shop as Redis & { put(key: string, value: string): Promise<string> }
    expect(await scripted.put('a', '1')).toBe('shop:a')
    await bare.script('FLUSH')
    expect(await scripted.put('b', '2')).toBe('shop:b')
    const pipeline = shop.pipeline() as unknown as {
      put(...given: string[]): { exec(): Promise<unknown> }
    }
    expect(await pipeline.put('c', '3').exec()).toEqual([[null, 'shop:c']])
    shop.defineCommand('take', { numberOfKeys: 1, lua: "return redis.call('GET', KEYS[1])" })
    const taking = shop as Redis & { take(key: string): Promise<string> }
    expect(await taking.take('a')).toBe('1')
    expect(await stored()).toEqual(['shop:a', 'shop:b', 'shop:c'])
  })

  test('commands wait for the connection with one prefix', async () => {
    const lazy = new Redis(server.port, { lazyConnect: true })
    const inShop = namespaced(lazy, { namespace: 'shop' })
    const waiting = [inShop.set('a', '1'), inShop.pipeline().get('a').exec()]
    expect(await Promise.all(waiting)).toEqual(['OK', [[null, '1']]])
    expect(await stored()).toEqual(['shop:a'])
    lazy.disconnect()
  })

  test('listeners come and go', async () => {
    const listening = namespaced(bare.duplicate(), { namespace: 'shop' })
    await listening.subscribe('c')
    await listening.psubscribe('c*')
    const told: unknown[] = []
    const hear = (...one: unknown[]) => told.push(one)
    listening.once('message', hear).on('pmessageBuffer', hear)
    expect(listening.listenerCount('message')).toBe(1)
    await shop.publish('c', '1')
    await until(() => told.length === 2)
    expect(told).toContainEqual(['c', '1'])
    expect(told).toContainEqual(['c*', Buffer.from('c'), Buffer.from('1')])
    listening.removeAllListeners('pmessageBuffer')
    await shop.publish('c', '2')
    expect(await listening.unsubscribe()).toBe(1)
    expect(await listening.punsubscribe()).toBe(0)
    expect(told.length).toBe(2)
    listening.disconnect()
  })

  test('a client with a prefix of its own is refused', () => {
    const client = new Redis(server.port, { keyPrefix: 'x:', lazyConnect: true })
    expect(failure(() => namespaced(client, { namespace: 'a' }))).toBeInstanceOf(InvalidArgument)
    expect(failure(() => namespaced(shop.pipeline(), { namespace: 'a' }))).toBeInstanceOf(
      InvalidArgument,
    )
  })
}

function onCluster(): void {
  let servers: RedisCluster
  let bare: Cluster
  let shop: Cluster

  beforeAll(async () => {
    servers = await RedisCluster.start()
    bare = new Cluster(servers.ports.map((port) => ({ host: '127.0.0.1', port })))
    shop = namespaced(bare, { namespace: 'shop' })
    await until(() => shop.set('a', '0').catch(() => undefined))
  })
  afterAll(async () => {
    bare.disconnect()
    await servers.stop()
  })

  test('all primaries are asked for keys, and none walks for all', async () => {
    await bare.set('neighbour', '1')
    await shop.flushdb()
    const names = Array.from({ length: 50 }, (_, at) => `k${at}`).sort()
    await Promise.all(names.map((name) => shop.set(name, name)))
    expect((await shop.keys('*')).sort()).toEqual(names)
    expect((await shop.keysBuffer('k1')).map(String)).toEqual(['k1'])
    const refused = { code: 'command_not_allowed' }
    await expect(shop.scan('0')).rejects.toMatchObject(refused)
    await expect(shop.pipeline().keys('*').exec()).rejects.toMatchObject(refused)
    const walked: string[] = []
    for (const node of shop.nodes('master')) {
      const stream = namespaced(node, { namespace: 'shop' }).scanStream()
      for await (const keys of stream) walked.push(...keys)
    }
    expect(walked.sort()).toEqual(names)
    await shop.flushdb()
  })

  test('keys go to the server of their whole name', async () => {
    await shop.flushdb()
    const keys = Array.from({ length: 50 }, (_, at) => `k${at}`)
    await Promise.all(keys.map((key) => shop.set(key, key)))
    expect(await Promise.all(keys.map((key) => bare.get(`shop:${key}`)))).toEqual(keys)
    expect(await shop.pipeline().set('{x}a', '1').get('{x}a').exec()).toEqual([
      [null, 'OK'],
      [null, '1'],
    ])
    const multi = await shop
      .multi()
      .set('{x}b', '1')
      .rpush('{x}l', 'v')
      .lmpop(1, '{x}l', 'LEFT')
      .exec()
    expect(multi?.at(-1)).toEqual([null, ['{x}l', ['v']]])
    await bare.set('neighbour', '1')
    expect(await shop.dbsize()).toBe(52)
    expect(await shop.flushdb()).toBe('OK')
    expect(await shop.dbsize()).toBe(0)
    expect(await shop.randomkey()).toBeNull()
    expect(await bare.get('neighbour')).toBe('1')
  })

  test('messages', async () => {
    const told: unknown[] = []
    shop.on('message', (...one) => told.push(one))
    await shop.subscribe('c')
    await bare.publish('c', 'not this')
    await shop.publish('c', 'm')
    await until(() => told.length > 0)
    expect(told).toEqual([['c', 'm']])
  })
}
