/** node-redis' own ways of calling commands. */
import { Socket } from 'node:net'
import { createClient, createClientPool, defineScript, RESP_TYPES } from 'redis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { InvalidArgument, namespaced } from '../../src/redis-namespace/index.ts'
import { failure } from '../support/failure.ts'
import { PROGRAMS, RedisServer, until } from '../support/redis-server.ts'

const put = defineScript({
  NUMBER_OF_KEYS: 1,
  SCRIPT: "redis.call('SET', KEYS[1], ARGV[1]) return KEYS[1]",
  parseCommand(parser, key: string, value: string) {
    parser.pushKey(key)
    parser.push(value)
  },
  transformReply: (reply: unknown) => String(reply),
})

if (PROGRAMS[0] !== undefined) describe.each([2, 3] as const)('node-redis, RESP%s', onServer)

function onServer(RESP: 2 | 3): void {
  let server: RedisServer
  const make = (more: object = {}) =>
    createClient({ url: `redis://127.0.0.1:${server.port}`, RESP, scripts: { put }, ...more })
  let bare: ReturnType<typeof make>
  let shop: ReturnType<typeof make>

  beforeAll(async () => {
    server = await RedisServer.start(PROGRAMS[0])
  })
  afterAll(() => server.stop())
  beforeEach(async () => {
    bare = make()
    await bare.connect()
    await bare.flushAll()
    shop = namespaced(bare, { namespace: 'shop' })
  })
  afterEach(() => bare.destroy())

  const stored = async () => (await bare.keys('*')).sort()

  test('methods', async () => {
    await shop.set('a', '1', { EX: 100 })
    await shop.mSet({ b: '2' })
    await shop.hSet('h', { f: 'v' })
    expect(await stored()).toEqual(['shop:a', 'shop:b', 'shop:h'])
    expect(await shop.mGet(['a', 'b', 'none'])).toEqual(['1', '2', null])
    expect({ ...(await shop.hGetAll('h')) }).toEqual({ f: 'v' })
    expect((await shop.keys('*')).sort()).toEqual(['a', 'b', 'h'])
    await shop.rPush('l', ['1', '2'])
    expect({ ...(await shop.blPop(['none', 'l'], 1)) }).toEqual({ key: 'l', element: '1' })
    expect(await shop.lmPop('l', 'LEFT')).toEqual(['l', ['2']])
    await shop.xAdd('s', '1-1', { f: 'v' })
    const [stream] = ((await shop.xRead({ key: 's', id: '0' })) ?? []) as { name: string }[]
    expect(stream.name).toBe('s')
    expect(await shop.dbSize()).toBe(4)
    expect(typeof (await shop.randomKey())).toBe('string')
    expect(await shop.flushDb()).toBe('OK')
    expect(await stored()).toEqual([])
    expect([shop.isOpen, shop.isReady, shop.isPubSubActive]).toEqual([true, true, false])
    await expect(shop.flushAll()).rejects.toMatchObject({ code: 'command_not_allowed' })
  })

  test('commands are put together into as few writes as without a namespace', async () => {
    const cork = vi.spyOn(Socket.prototype, 'cork')
    const writes = async (client: typeof bare) => {
      cork.mockClear()
      await Promise.all(Array.from({ length: 50 }, () => client.get('a')))
      await client.mGet(['a', 'b'])
      await client.multi().get('a').keys('*').exec()
      return cork.mock.calls.length
    }
    try {
      expect([await writes(shop), await writes(bare)]).toEqual([3, 3])
    } finally {
      cork.mockRestore()
    }
  })

  test('other types of replies', async () => {
    const bytes = shop.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
    await bytes.set('a', 'v')
    expect(await bytes.get('a')).toEqual(Buffer.from('v'))
    expect(await bytes.keys('*')).toEqual([Buffer.from('a')])
    expect(await bytes.randomKey()).toEqual(Buffer.from('a'))
    expect(await bytes.multi().keys('*').execAsPipeline()).toEqual([[Buffer.from('a')]])
    for (const MAP of [Map, Array]) {
      await shop.xAdd('s', '*', { f: 'v' })
      const mapped = shop.withTypeMapping({ [RESP_TYPES.MAP]: MAP as never })
      const read = await mapped.sendCommand(['XREAD', 'STREAMS', 's', '0'])
      expect(JSON.stringify(read instanceof Map ? [...read] : read)).not.toContain('shop')
    }
    expect(await stored()).toEqual(['shop:a', 'shop:s'])
  })

  test('transactions and pipelines, also sent twice', async () => {
    const multi = shop.multi().set('a', '1').keys('*').get('a')
    expect(await multi.exec()).toEqual(['OK', ['a'], '1'])
    expect(await multi.execAsPipeline()).toEqual(['OK', ['a'], '1'])
    expect(await shop.multi().put('b', '2').exec()).toEqual(['shop:b'])
    await expect(shop.multi().set('c', '1').flushAll().exec()).rejects.toMatchObject({
      code: 'command_not_allowed',
    })
    expect(await stored()).toEqual(['shop:a', 'shop:b'])
  })

  test('a watched key', async () => {
    await shop.watch('a')
    await bare.set('shop:a', 'changed')
    await expect(shop.multi().get('a').exec()).rejects.toThrow('watched keys')
    await shop.watch(['a', 'b'])
    await bare.set('a', 'no matter')
    expect(await shop.multi().get('a').exec()).toEqual(['changed'])
  })

  test('scripts that are commands', async () => {
    expect(await shop.put('a', '1')).toBe('shop:a')
    await bare.scriptFlush()
    expect(await shop.put('b', '2')).toBe('shop:b')
    expect(await stored()).toEqual(['shop:a', 'shop:b'])
  })

  test('scan iterators', async () => {
    await bare.mSet({ a: '1', 'shop:b': '2', 'shop:c': '3' })
    const found: string[] = []
    for await (const keys of shop.scanIterator()) found.push(...keys)
    expect(found.sort()).toEqual(['b', 'c'])
    await shop.hSet('h', 'f', 'v')
    for await (const entries of shop.hScanIterator('h')) {
      expect(entries).toEqual([{ field: 'f', value: 'v' }])
    }
  })

  test('listeners come and go', async () => {
    const both = bare.duplicate()
    await both.connect()
    const inShop = namespaced(both, { namespace: 'shop' })
    const told: unknown[] = []
    const hear = (...one: unknown[]) => told.push(one)
    const second = (...one: unknown[]) => told.push(['second', ...one])
    await inShop.subscribe(['c', 'd'], hear)
    await inShop.subscribe('c', second)
    await both.subscribe('shop:c', (...one) => told.push(['bare', ...one]))
    await shop.publish('c', 'm')
    await until(() => told.length === 3)
    expect(told).toContainEqual(['m', 'c'])
    expect(told).toContainEqual(['second', 'm', 'c'])
    expect(told).toContainEqual(['bare', 'm', 'shop:c'])
    await inShop.unsubscribe('c', second)
    await shop.publish('c', '2')
    await until(() => told.length === 5)
    await inShop.unsubscribe()
    expect(await shop.publish('d', '3')).toBe(0)
    expect(await shop.publish('c', '3')).toBe(1)
    await until(() => told.length === 6)
    both.destroy()
  })

  test('a pool', async () => {
    const pool = createClientPool({ url: `redis://127.0.0.1:${server.port}`, RESP })
    await pool.connect()
    const inShop = namespaced(pool, { namespace: 'shop' })
    await inShop.set('a', '1')
    expect(await inShop.get('a')).toBe('1')
    expect(await inShop.multi().keys('*').exec()).toEqual([['a']])
    expect(await inShop.execute((client) => client.set('b', '2'))).toBe('OK')
    expect(await inShop.sendCommand(['GET', 'b'])).toBe('2')
    await expect(inShop.flushAll()).rejects.toMatchObject({ code: 'command_not_allowed' })
    expect(await stored()).toEqual(['shop:a', 'shop:b'])
    pool.destroy()
    const made = shop.createPool()
    await made.connect()
    expect(await made.get('a')).toBe('1')
    made.destroy()
  })

  test('what connect gives is the view', async () => {
    const client = make()
    const connected = await namespaced(client, { namespace: 'shop' }).connect()
    await connected.set('a', '1')
    expect(await stored()).toEqual(['shop:a'])
    client.destroy()
  })

  test('a client with a prefix of its own is refused', () => {
    const client = make({ keyPrefix: 'x:' })
    expect(failure(() => namespaced(client, { namespace: 'a' }))).toBeInstanceOf(InvalidArgument)
  })

  if (RESP === 2) return

  test('the client’s own cache', async () => {
    const client = make({ clientSideCache: { maxEntries: 10 } })
    await client.connect()
    const inShop = namespaced(client, { namespace: 'shop' })
    await bare.mSet({ a: 'bare', 'shop:a': '1' })
    expect([await inShop.get('a'), await client.get('a')]).toEqual(['1', 'bare'])
    await shop.set('a', '2')
    await until(async () => (await inShop.get('a')) === '2')
    client.destroy()
  })

  test('keys that became invalid', async () => {
    const client = make({ emitInvalidate: true })
    await client.connect()
    const inShop = namespaced(client, { namespace: 'shop' })
    const told: unknown[] = []
    inShop.on('invalidate', (key) => told.push(String(key)))
    await client.mGet(['a', 'shop:a', 'shop:b'])
    await bare.mSet({ a: '1', 'shop:b': '2' })
    await until(() => told.length > 0)
    expect(told).toEqual(['b'])
    client.destroy()
  })
}
