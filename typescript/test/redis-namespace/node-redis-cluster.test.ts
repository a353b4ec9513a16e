/** node-redis' cluster, of three primaries. */
import { createCluster } from 'redis'
import { createCluster as createCluster5 } from 'redis-5'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { InvalidArgument, namespaced } from '../../src/redis-namespace/index.ts'
import { failure } from '../support/failure.ts'
import { RedisCluster } from '../support/redis-cluster.ts'
import { PROGRAMS, until } from '../support/redis-server.ts'

if (PROGRAMS[0] === 'redis-server') describe('a cluster of node-redis', onCluster)

function onCluster(): void {
  let servers: RedisCluster
  let bare: ReturnType<typeof connect>
  let shop: ReturnType<typeof connect>

  const connect = () =>
    createCluster({
      rootNodes: servers.ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })),
    })

  beforeAll(async () => {
    servers = await RedisCluster.start()
    bare = connect()
    bare.on('error', () => {})
    await bare.connect()
    await until(() => bare.set('ready', '1').catch(() => undefined))
    shop = namespaced(bare, { namespace: 'shop' })
  })
  afterAll(async () => {
    bare.destroy()
    await servers.stop()
  })
  beforeEach(async () => {
    await bare.flushAll()
    await bare.set('neighbour', '1')
    await Promise.all(names.map((name) => shop.set(name, name)))
  })

  const names = Array.from({ length: 50 }, (_, at) => `k${at}`).sort()

  test('keys go to the node of their whole name', async () => {
    const stored = await Promise.all(names.map((name) => bare.get(`shop:${name}`)))
    expect(stored).toEqual(names)
    expect(await Promise.all(names.map((name) => shop.get(name)))).toEqual(names)
    expect(await shop.mGet(['k1', 'k2', 'k3'])).toEqual(['k1', 'k2', 'k3'])
    expect(await shop.sendCommand('k1', true, ['GET', 'k1'])).toBe('k1')
    expect(await shop.del(['k1', 'k2'])).toBe(2)
  })

  test('replies that name keys', async () => {
    await shop.rPush('{x}l', ['a', 'b'])
    await shop.xAdd('s', '1-1', { f: 'v' })
    expect(await shop.lmPop('{x}l', 'LEFT')).toEqual(['{x}l', ['a']])
    expect(await shop.blPop('{x}l', 1)).toEqual({ key: '{x}l', element: 'b' })
    expect(JSON.stringify(await shop.xRead({ key: 's', id: '0' }))).toContain('"s"')
  })

  test('all primaries are asked for what concerns the whole database', async () => {
    expect((await shop.keys('*')).sort()).toEqual(names)
    const walked: string[] = []
    let cursor = '0'
    do {
      const step = await shop.scan(cursor)
      walked.push(...step.keys)
      cursor = String(step.cursor)
    } while (cursor !== '0')
    expect(walked.sort()).toEqual(names)
    expect(await shop.dbSize()).toBe(50)
    expect(names).toContain(await shop.randomKey())
    expect(await shop.flushDb()).toBe('OK')
    expect(await shop.dbSize()).toBe(0)
    expect(await bare.get('neighbour')).toBe('1')
  })

  test('transactions and pipelines', async () => {
    const replies = await shop.multi().rPush('{x}l', 'a').lmPop('{x}l', 'LEFT').exec()
    expect(replies).toEqual([1, ['{x}l', ['a']]])
    expect(await shop.multi().set('{x}a', '1').get('{x}a').execAsPipeline()).toEqual(['OK', '1'])
    expect(await bare.get('shop:{x}a')).toBe('1')
    await expect(shop.sendCommand(undefined, false, ['MULTI'])).rejects.toMatchObject({
      code: 'command_not_allowed',
    })
    await expect(
      shop.multi().set('{x}a', '1').addCommand('{x}a', false, ['FLUSHALL']).exec(),
    ).rejects.toMatchObject({ code: 'command_not_allowed' })
  })

  test('messages, scripts and namespaces within', async () => {
    const told: unknown[] = []
    await shop.subscribe('c', (...one) => told.push(one))
    await bare.publish('c', 'not this')
    await shop.publish('c', 'm')
    await until(() => told.length > 0)
    expect(told).toEqual([['m', 'c']])
    await shop.unsubscribe('c')
    const script = { keys: ['k1'], arguments: [] as string[] }
    expect(await shop.eval("return redis.call('GET', KEYS[1])", script)).toBe('k1')
    const eu = namespaced(shop, { namespace: 'eu' })
    await eu.set('k1', 'eu')
    expect(await bare.get('shop:eu:k1')).toBe('eu')
    await expect(shop.sendCommand(undefined, false, ['FLUSHALL'])).rejects.toMatchObject({
      code: 'command_not_allowed',
    })
  })

  test('one that asks one node for all is refused', () => {
    const old = createCluster5({ rootNodes: [{ url: `redis://127.0.0.1:${servers.ports[0]}` }] })
    expect(failure(() => namespaced(old, { namespace: 'shop' }))).toBeInstanceOf(InvalidArgument)
  })
}
