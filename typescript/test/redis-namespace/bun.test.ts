/** Methods of Bun's own client. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { namespaced } from '../../src/redis-namespace/index.ts'
import { PROGRAMS, RedisServer, until } from '../support/redis-server.ts'

type Method = (...given: unknown[]) => Promise<unknown>
type BunClient = Record<string, Method> & { connected: boolean; close(): void }
const { Bun } = globalThis as unknown as {
  Bun: { RedisClient: new (url: string) => BunClient } | undefined
}

if (Bun === undefined || PROGRAMS[0] === undefined) {
  test('Bun’s client is only in Bun', () => {})
} else {
  describe('Bun', () => onServer(Bun.RedisClient))
}

function onServer(RedisClient: new (url: string) => BunClient): void {
  let server: RedisServer
  let bare: BunClient
  let shop: BunClient

  beforeAll(async () => {
    server = await RedisServer.start(PROGRAMS[0])
  })
  afterAll(() => server.stop())
  beforeEach(async () => {
    bare = new RedisClient(`redis://127.0.0.1:${server.port}`)
    await bare.send('FLUSHALL', [])
    shop = namespaced(bare, { namespace: 'shop' })
  })
  afterEach(() => bare.close())

  const stored = async () => ((await bare.keys('*')) as string[]).sort()

  test('what a subscription to a pattern is answered', async () => {
    const own = new RedisClient(`redis://127.0.0.1:${server.port}`)
    const inShop = namespaced(own, { namespace: 'shop' })
    expect(await inShop.psubscribe('c*')).toEqual({ type: 'psubscribe', data: ['c*', 1] })
    expect(await inShop.send('PUNSUBSCRIBE', ['c*'])).toEqual({
      type: 'punsubscribe',
      data: ['c*', 0],
    })
    own.close()
  })

  test('methods', async () => {
    await shop.set('a', '1', 'EX', 100)
    await shop.mset('b', '2', 'shop:a', '3')
    await shop.hset('h', { f: 'v' })
    await shop.hmset('i', ['f', 'v'])
    expect(await stored()).toEqual(['shop:a', 'shop:b', 'shop:h', 'shop:i', 'shop:shop:a'])
    expect(await shop.get('a')).toBe('1')
    expect(await shop.getBuffer('a')).toEqual(new Uint8Array([49]))
    expect(await shop.mget('a', 'b', 'shop:a', 'none')).toEqual(['1', '2', '3', null])
    expect(await shop.exists('a')).toBe(true)
    expect(await shop.hgetall('h')).toEqual({ f: 'v' })
    expect(await shop.keys('a*')).toEqual(['a'])
    expect(await shop.expire('a', 5)).toBe(1)
    expect(((await shop.scan(0)) as [string, string[]])[1].sort()).toEqual([
      'a',
      'b',
      'h',
      'i',
      'shop:a',
    ])
    expect(((await shop.scan(0, 'MATCH', 'b')) as [string, string[]])[1]).toEqual(['b'])
    await shop.rpush('l', '1', '2')
    expect(await shop.blpop('none', 'l', 1)).toEqual(['l', '1'])
    expect(await shop.lmpop(1, 'l', 'LEFT')).toEqual(['l', ['2']])
    await shop.xadd('s', '1-1', 'f', 'v')
    expect(await shop.xgroup('CREATE', 's', 'streams', '0')).toBe('OK')
    expect(await shop.xreadgroup('GROUP', 'streams', 'c', 'STREAMS', 's', '>')).toEqual({
      s: [['1-1', ['f', 'v']]],
    })
    expect(await shop.eval('return KEYS[1]', 1, 'k')).toBe('shop:k')
    expect(await shop.dbsize()).toBe(6)
    expect(typeof (await shop.randomkey())).toBe('string')
    expect(await shop.flushdb()).toBe('OK')
    expect(await shop.randomkey()).toBeNull()
    expect(await stored()).toEqual([])
    expect(shop.connected).toBe(true)
  })

  test('what does not stay inside is refused', async () => {
    await expect(shop.flushall()).rejects.toMatchObject({ code: 'command_not_allowed' })
    await expect(shop.config('GET', 'save')).rejects.toMatchObject({ code: 'command_not_allowed' })
    await expect(shop.send('NOSUCH', ['k'])).rejects.toMatchObject({ code: 'unknown_command' })
    await expect(shop.mset({ a: '1' })).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  test('a transaction', async () => {
    const replies = await Promise.all([
      shop.send('MULTI', []),
      shop.send('SET', ['a', '1']),
      shop.send('KEYS', ['*']),
      shop.send('DBSIZE', []).catch((error) => error.code),
      shop.send('EXEC', []),
    ])
    expect(replies.slice(3)).toEqual(['command_not_allowed', ['OK', ['a']]])
    expect(await stored()).toEqual(['shop:a'])
  })

  test('listeners come and go', async () => {
    const client = new RedisClient(`redis://127.0.0.1:${server.port}`)
    const inShop = namespaced(client, { namespace: 'shop' })
    const told: unknown[] = []
    const hear = (...one: unknown[]) => told.push(one)
    await inShop.subscribe(['c', 'd'], hear)
    await client.subscribe('shop:c', (...one: unknown[]) => told.push(['bare', ...one]))
    await shop.publish('c', 'm')
    await until(() => told.length === 2)
    expect(told).toContainEqual(['m', 'c'])
    expect(told).toContainEqual(['bare', 'm', 'shop:c'])
    await inShop.unsubscribe('c', hear)
    expect(await shop.publish('c', 'm')).toBe(1)
    await inShop.unsubscribe()
    expect(await shop.publish('d', 'm')).toBe(0)
    client.close()
  })
}
