/** Every client on every server: two namespaces and a bare neighbour see nothing of each other. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Word } from '../../src/redis-namespace/index.ts'
import { type Client, KINDS } from '../support/redis-clients.ts'
import { PROGRAMS, RedisServer, until } from '../support/redis-server.ts'

for (const program of PROGRAMS) {
  describe(program, () => {
    let server: RedisServer
    beforeAll(async () => {
      server = await RedisServer.start(program, '--notify-keyspace-events', 'KEA')
    })
    afterAll(() => server.stop())
    for (const [kind, connect] of Object.entries(KINDS)) {
      describe(kind, () => behaviour(() => connect(server.port)))
    }
  })
}

function behaviour(connect: () => Promise<Client>): void {
  let bare: Client
  let shop: Client
  let other: Client
  let opened: Client[]

  beforeEach(async () => {
    bare = await connect()
    await bare.call('FLUSHALL')
    shop = bare.namespaced({ namespace: 'shop' })
    other = bare.namespaced({ namespace: 'other' })
    opened = [bare]
  })

  afterEach(() => {
    for (const client of opened) client.close()
  })

  async function own(): Promise<Client> {
    const client = await connect()
    opened.push(client)
    return client
  }

  /** A connection of its own with the namespace. */
  async function ownShop(): Promise<Client> {
    return (await own()).namespaced({ namespace: 'shop' })
  }

  async function stored(): Promise<string[]> {
    return ((await bare.call('KEYS', '*')) as string[]).sort()
  }

  test('keys have the prefix on the server, also one that begins with it', async () => {
    await shop.call('SET', 'a', '1')
    await shop.call('set', 'shop:a', '2')
    await other.call('MSET', 'a', '3', 'b', '4')
    await bare.call('SET', 'a', '5')
    expect(await stored()).toEqual(['a', 'other:a', 'other:b', 'shop:a', 'shop:shop:a'])
    expect(await shop.call('GET', 'a')).toBe('1')
    expect(await shop.call('MGET', 'a', 'shop:a', 'b')).toEqual(['1', '2', null])
    expect(await shop.call('DEL', 'a', 'b')).toBe(1)
    expect(await bare.call('GET', 'a')).toBe('5')
    expect(await other.call('GET', 'a')).toBe('3')
  })

  test('keys that are bytes', async () => {
    const key = Buffer.from([0xff, 0x00, 0xfe])
    await shop.call('SET', key, 'v')
    expect(await shop.call('GET', key)).toBe('v')
    expect(await bare.call('GET', Buffer.concat([Buffer.from('shop:'), key]))).toBe('v')
    expect(await shop.call('DBSIZE')).toBe(1)
    expect(await shop.call('FLUSHDB')).toBe('OK')
    expect(await bare.call('DBSIZE')).toBe(0)
  })

  test('lists, and pops that say which', async () => {
    const waiting = (await ownShop()).call('BLPOP', 'l', 'm', '5')
    await sleep(20)
    await bare.call('RPUSH', 'l', 'not this')
    await shop.call('RPUSH', 'm', 'shop:v')
    expect(await waiting).toEqual(['m', 'shop:v'])
    await shop.call('RPUSH', 'l', '1', '2')
    expect(await shop.call('LMPOP', '2', 'm', 'l', 'LEFT')).toEqual(['l', ['1']])
    expect(await shop.call('LMOVE', 'l', 'n', 'LEFT', 'LEFT')).toBe('2')
    await shop.call('ZADD', 'z', '1', 'm')
    const [from, member] = (await shop.call('BZPOPMIN', 'z', '1')) as string[]
    expect([from, member]).toEqual(['z', 'm'])
    expect(await shop.call('BLPOP', 'none', '0.01')).toBeNull()
    expect(await stored()).toEqual(['l', 'shop:n'])
  })

  test('streams, with a group called streams', async () => {
    await shop.call('XADD', 's', '1-1', 'f', 'shop:v')
    await shop.call('XGROUP', 'CREATE', 's', 'streams', '0')
    const read = await shop.call('XREAD', 'COUNT', '1', 'STREAMS', 's', '0')
    const grouped = await shop.call('XREADGROUP', 'GROUP', 'streams', 'c', 'STREAMS', 's', '>')
    const entries = [['1-1', ['f', 'shop:v']]]
    for (const reply of [read, grouped]) {
      // A list of pairs, a flat one, or an object.
      const list = Array.isArray(reply) ? reply : Object.entries(reply as object)
      expect(Array.isArray(list[0]) ? list[0] : list).toEqual(['s', entries])
    }
    expect(await stored()).toEqual(['shop:s'])
  })

  test('scripts get their keys', async () => {
    const script = "redis.call('SET', KEYS[1], ARGV[1]) return KEYS[1]"
    expect(await shop.call('EVAL', script, '1', 'k', 'v')).toBe('shop:k')
    expect(await shop.call('GET', 'k')).toBe('v')
  })

  test('SORT', async () => {
    await shop.call('RPUSH', 'l', '1', '2')
    await shop.call('MSET', 'w_1', '2', 'w_2', '1', 'o_1', 'first', 'o_2', 'second')
    expect(await shop.call('SORT', 'l', 'BY', 'w_*', 'GET', 'o_*', 'GET', '#')).toEqual([
      ...['second', '2'],
      ...['first', '1'],
    ])
  })

  test('commands of a database stay inside the namespace', async () => {
    for (let at = 0; at < 2500; at += 500) {
      const some = Array.from({ length: 500 }, (_, index) => [`k${at + index}`, 'v']).flat()
      await shop.call('MSET', ...some)
    }
    await other.call('MSET', 'a', '1', 'b', '2')
    await bare.call('SET', 'shopping', '1')
    expect(await shop.call('DBSIZE')).toBe(2500)
    expect(await other.call('DBSIZE')).toBe(2)
    expect(((await other.call('KEYS', '*')) as string[]).sort()).toEqual(['a', 'b'])
    expect(await shop.call('KEYS', 'k7')).toEqual(['k7'])
    expect(await other.call('RANDOMKEY')).toMatch(/^[ab]$/)
    expect((await scanned(other)).sort()).toEqual(['a', 'b'])
    expect(await scanned(shop, 'MATCH', 'k13', 'COUNT', '1000')).toEqual(['k13'])
    if (other.scanAll) {
      expect((await other.scanAll()).sort()).toEqual(['a', 'b'])
      expect(await shop.scanAll?.({ match: 'k13', count: 1000 })).toEqual(['k13'])
    }
    expect(await shop.call('FLUSHDB')).toBe('OK')
    expect(await shop.call('RANDOMKEY')).toBeNull()
    expect(await stored()).toEqual(['other:a', 'other:b', 'shopping'])
  })

  async function scanned(client: Client, ...options: Word[]): Promise<string[]> {
    const all: string[] = []
    let cursor = '0'
    do {
      const [next, keys] = (await client.call('SCAN', cursor, ...options)) as [string, string[]]
      all.push(...keys)
      cursor = next
    } while (cursor !== '0')
    return all
  }

  test('a namespace with glob characters matches itself only', async () => {
    const glob = bare.namespaced({ namespace: 's*[p]' })
    await glob.call('SET', 'k', 'v')
    await shop.call('SET', 'k', 'v')
    expect(await glob.call('KEYS', '*')).toEqual(['k'])
    expect(await glob.call('DBSIZE')).toBe(1)
    await glob.call('FLUSHDB')
    expect(await stored()).toEqual(['shop:k'])
  })

  test('a transaction’s replies, also those with keys', async () => {
    const replies = await shop.transaction(
      ['SET', 'a', 'shop:v'],
      ['KEYS', '*'],
      ['RPUSH', 'l', 'x'],
      ['LMPOP', '1', 'l', 'LEFT'],
      ['GET', 'a'],
    )
    expect(replies).toEqual(['OK', ['a'], 1, ['l', ['x']], 'shop:v'])
    expect(await stored()).toEqual(['shop:a'])
  })

  test('a pipeline’s replies', async () => {
    if (!shop.pipeline) return
    const replies = await shop.pipeline(['SET', 'a', 'v'], ['KEYS', '*'], ['GET', 'a'])
    expect(replies).toEqual(['OK', ['a'], 'v'])
  })

  test('what does not stay inside is refused, and nothing is sent', async () => {
    await expect(shop.call('FLUSHALL')).rejects.toMatchObject({ code: 'command_not_allowed' })
    await expect(shop.call('CONFIG', 'GET', '*')).rejects.toMatchObject({
      code: 'command_not_allowed',
    })
    await expect(shop.call('NOSUCH', 'k')).rejects.toMatchObject({ code: 'unknown_command' })
    await expect(shop.call('EVAL', 's', 'x')).rejects.toMatchObject({ code: 'invalid_argument' })
    if (shop.pipeline) {
      for (const batch of [shop.pipeline, shop.transaction]) {
        for (const refused of ['FLUSHALL', 'DBSIZE']) {
          const sent = batch(['SET', 'a', '1'], [refused])
          await expect(sent).rejects.toMatchObject({ code: 'command_not_allowed' })
        }
      }
    }
    expect(await stored()).toEqual([])
    const allowed = bare.namespaced({ namespace: 'shop', allow: ['CONFIG GET'] })
    expect(await allowed.call('CONFIG', 'GET', 'save')).toBeTruthy()
  })

  test('messages', async () => {
    const told: unknown[] = []
    const hear = (...one: unknown[]) => told.push(one)
    const listening = await own()
    const inShop = listening.namespaced({ namespace: 'shop' })
    const inOther = listening.namespaced({ namespace: 'other' })
    await inShop.subscribe('c', hear)
    await inOther.subscribe('c', (...one) => told.push(['other', ...one]))
    expect(await shop.call('PUBLISH', 'c', 'shop:m')).toBe(1)
    await bare.call('PUBLISH', 'c', 'not this')
    await other.call('PUBLISH', 'c', 'm')
    await until(() => told.length === 2)
    expect(told).toEqual([
      [undefined, 'c', 'shop:m'],
      ['other', undefined, 'c', 'm'],
    ])
    expect(await shop.call('PUBSUB', 'CHANNELS')).toEqual(['c'])
    await inShop.unsubscribe('c')
    expect(await shop.call('PUBLISH', 'c', 'm')).toBe(0)
    expect(await other.call('PUBLISH', 'c', 'm')).toBe(1)
    await until(() => told.length === 3)
  })

  test('messages of patterns, and notifications of keys', async () => {
    const listening = await ownShop()
    const told: unknown[] = []
    const hear = (...one: unknown[]) => told.push(one)
    if (!listening.psubscribe) {
      await listening.subscribe('__keyevent@0__:set', hear)
      await listening.subscribe('__keyspace@0__:k', hear)
    } else {
      await listening.psubscribe('n.*', hear)
      await shop.call('PUBLISH', 'n.1', 'm')
      await other.call('PUBLISH', 'n.1', 'm')
      await until(() => told.length === 1)
      expect(told.shift()).toEqual(['n.*', 'n.1', 'm'])
      await listening.psubscribe('__keyevent@*__:set', (_, ...one) => hear(undefined, ...one))
      await listening.psubscribe('__keyspace@0__:*', (_, ...one) => hear(undefined, ...one))
    }
    await other.call('SET', 'k', 'v')
    await bare.call('SET', 'k', 'v')
    await shop.call('SET', 'k', 'v')
    await until(() => told.length === 2)
    await sleep(20)
    expect(told.map(String).sort()).toEqual([',__keyevent@0__:set,k', ',__keyspace@0__:k,set'])
  })

  test('after a lost connection nothing has two prefixes', async () => {
    const killer = await own()
    const told: unknown[] = []
    const listening = await ownShop()
    await listening.subscribe('c', (...one) => told.push(one))
    const working = await ownShop()
    await working.call('SET', 'a', '1')
    const blocked = working.call('BLPOP', 'l', '2').catch(() => 'failed')
    await sleep(30)
    for (const type of ['normal', 'pubsub']) await killer.call('CLIENT', 'KILL', 'TYPE', type)
    await until(async () => (await working.call('GET', 'a').catch(() => undefined)) === '1')
    if (listening.resubscribes ?? true) {
      await until(() => shop.call('PUBLISH', 'c', 'm').catch(() => 0))
      await until(() => told.length > 0)
      expect(told[0]).toEqual([undefined, 'c', 'm'])
    }
    await until(() => shop.call('RPUSH', 'l', 'v').catch(() => 0))
    expect([['l', 'v'], 'failed', null]).toContainEqual(await blocked)
    await working.call('SET', 'b', '2')
    expect((await stored()).filter((key) => key !== 'shop:l')).toEqual(['shop:a', 'shop:b'])
  })

  test('a namespace within a namespace, and another connection', async () => {
    const nested = shop.namespaced({ namespace: 'users' })
    await nested.call('SET', 'k', 'v')
    expect(await stored()).toEqual(['shop:users:k'])
    expect(await nested.call('KEYS', '*')).toEqual(['k'])
    const duplicate = await nested.duplicate()
    opened.push(duplicate)
    expect(await duplicate.call('GET', 'k')).toBe('v')
    const deeper = duplicate.namespaced({ namespace: 'x' })
    await deeper.call('SET', 'k', 'w')
    expect(await stored()).toEqual(['shop:users:k', 'shop:users:x:k'])
  })

  test('a function is asked at each command', async () => {
    let tenant = 'a'
    const dynamic = bare.namespaced({ namespace: () => tenant })
    await dynamic.call('SET', 'k', '1')
    tenant = 'b'
    await dynamic.call('SET', 'k', '2')
    tenant = ''
    await expect(dynamic.call('SET', 'k', '3')).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(await stored()).toEqual(['a:k', 'b:k'])
  })
}
