import { readFileSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import { Command, Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis-5'
import { createClient } from 'redis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { InvalidArgument } from '../../src/errors.ts'
import { UnknownCommand } from '../../src/more-errors.ts'
import { cached, UncacheableRead } from '../../src/reads/index.ts'
import said from '../../src/reads/reads.json' with { type: 'json' }
import { namespaced } from '../../src/redis-namespace/index.ts'
import { keeping, open, options } from '../support/cached-reads.ts'
import { folder } from '../support/caches.ts'
import { Reader } from '../support/reader.ts'
import { PROGRAMS, RedisServer, until } from '../support/redis-server.ts'
import { everywhere, hasServer, ownServer } from '../support/remote-caches.ts'

// biome-ignore lint/suspicious/noExplicitAny: each client has other methods
type Any = any

const ioredis = {
  'ioredis 6': (port: number) => new Redis({ port, maxRetriesPerRequest: 20 }),
  'ioredis 6, RESP3': (port: number) => new Redis({ port, protocol: 3 }),
  'ioredis 5': (port: number) => new Redis5({ port }) as unknown as Redis,
} as const

function connected(port: number, how: keyof typeof ioredis = 'ioredis 6'): Redis {
  const client = ioredis[how](port)
  onTestFinished(() => client.disconnect())
  return client
}

async function fill(client: Redis, key: string): Promise<void> {
  await client.del(`${key}:x`, `${key}:h`, `${key}:l`, `${key}:z`, `${key}:s`, `${key}:t`)
  for (const name of ['one', 'two', 'three'])
    await client.xadd(`${key}:x`, '*', 'name', name, 'n', '1')
  await client.hset(`${key}:h`, { a: '1', b: 'zwei', ü: 'ö' })
  await client.rpush(`${key}:l`, 'a', 'b', 'c')
  await client.zadd(`${key}:z`, 1, 'a', 2.5, 'b', Number.POSITIVE_INFINITY, 'c')
  await client.sadd(`${key}:s`, 'm')
  await client.set(`${key}:t`, 'text')
}

const CALLS: [string, ...unknown[]][] = [
  ['xrange', 'k:x', '-', '+'],
  ['xrange', 'k:x', '-', '+', 'COUNT', 2],
  ['xrevrange', 'k:x', '+', '-'],
  ['xlen', 'k:x'],
  ['xread', 'COUNT', 2, 'STREAMS', 'k:x', '0'],
  ['hgetall', 'k:h'],
  ['hgetallBuffer', 'k:h'],
  ['hget', 'k:h', 'b'],
  ['hmget', 'k:h', 'a', 'none'],
  ['hkeys', 'k:h'],
  ['hvals', 'k:h'],
  ['lrange', 'k:l', 0, -1],
  ['lindex', 'k:l', 1],
  ['llen', 'k:l'],
  ['zrange', 'k:z', 0, -1],
  ['zrange', 'k:z', 0, -1, 'WITHSCORES'],
  ['zrangebyscore', 'k:z', '-inf', '+inf'],
  ['zscore', 'k:z', 'c'],
  ['zrank', 'k:z', 'b'],
  ['zcard', 'k:z'],
  ['smembers', 'k:s'],
  ['sismember', 'k:s', 'm'],
  ['get', 'k:t'],
  ['getBuffer', 'k:t'],
  ['get', 'k:none'],
  ['mget', 'k:t', 'k:none'],
  ['strlen', 'k:t'],
  ['getrange', 'k:t', 0, 1],
  ['exists', 'k:t', 'k:none'],
  ['type', 'k:t'],
  ['eval_ro', "return {redis.call('get', KEYS[1]), ARGV[1], 7}", 1, 'k:t', 'x'],
  ['call', 'LRANGE', 'k:l', '0', '-1'],
]

describe.skipIf(!hasServer)('cached reads', () => {
  everywhere((server) => {
    const from = () => server().port

    describe.each(Object.keys(ioredis) as (keyof typeof ioredis)[])('%s', (how) => {
      it('gives what the client gives, from the server, from memory and from the host', async () => {
        const client = connected(from(), how)
        await fill(client, 'k')
        const path = folder()
        const given = options({ path, limit: '16MiB' })
        const reads = open(client, given) as Any
        const other = open(client, given) as Any
        await keeping(reads, () => reads.get('k:t'))
        for (const [method, ...words] of CALLS) {
          const expected = await (client as Any)[method](...words)
          expect(await reads[method](...words), method).toStrictEqual(expected)
          expect(await reads[method](...words), method).toStrictEqual(expected)
          const before = other.stats().hostHits
          expect(await other[method](...words), method).toStrictEqual(expected)
          expect(other.stats().hostHits, `${method} of the host`).toBe(before + 1)
        }
      })
    })

    it("gives what node-redis' client gives", async () => {
      const filler = connected(from())
      await fill(filler, 'k')
      const center = { longitude: 13.4, latitude: 52.5 }
      for (const RESP of [2, 3] as const) {
        const client = await createClient({ socket: { port: from() }, RESP }).connect()
        onTestFinished(() => client.destroy())
        const reads = open(client as object, { path: folder(), limit: '16MiB' }) as Any
        await client.set('k:t2', 'next')
        await client.geoAdd('k:g', { ...center, member: 'm' })
        await keeping(reads, () => reads.get('k:t'))
        const calls: [string, ...unknown[]][] = [
          ['xRange', 'k:x', '-', '+'],
          ['xRange', 'k:x', '-', '+', { COUNT: 2 }],
          ['xRevRange', 'k:x', '+', '-'],
          ['hGetAll', 'k:h'],
          ['lRange', 'k:l', 0, -1],
          ['zRange', 'k:z', 0, -1],
          ['zRangeWithScores', 'k:z', 0, -1],
          ['zScore', 'k:z', 'c'],
          ['zRankWithScore', 'k:z', 'b'],
          ['ZRANK_WITHSCORE', 'k:z', 'b'],
          ['lcs', 'k:t', 'k:t2'],
          ['lcsLen', 'k:t', 'k:t2'],
          ['lcsIdx', 'k:t', 'k:t2'],
          ['lcsIdxWithMatchLen', 'k:t', 'k:t2'],
          ['LCS_IDX_WITHMATCHLEN', 'k:t', 'k:t2'],
          ['lPosCount', 'k:l', 'a', 2],
          ['geoSearchWith', 'k:g', center, { radius: 1, unit: 'km' }, ['WITHDIST']],
          ['geoRadiusRoWith', 'k:g', center, 1, 'km', ['WITHDIST']],
          ['geoRadiusByMemberRoWith', 'k:g', 'm', 1, 'km', ['WITHDIST', 'WITHCOORD']],
          ['sMembers', 'k:s'],
          ['get', 'k:t'],
          ['mGet', ['k:t', 'k:none']],
          ['evalRo', "return redis.call('get', KEYS[1])", { keys: ['k:t'], arguments: [] }],
        ]
        for (const [method, ...words] of calls) {
          const expected = await (client as Any)[method](...words).catch((error: Error) => error)
          // Redis before 7.2 has no scores of ranks.
          if (expected instanceof Error) {
            await expect(reads[method](...words), method).rejects.toThrow(expected.message)
            continue
          }
          expect(await reads[method](...words), method).toEqual(expected)
          const before = reads.stats().sent
          expect(await reads[method](...words), method).toEqual(expected)
          expect(reads.stats().sent, method).toBe(before)
        }
      }
    })

    it('shows what another program writes, deletes, expires and flushes', async () => {
      const client = connected(from())
      const reads = open(client, { path: folder(), limit: '16MiB', maxStaleness: '10s' })
      await client.set('c:a', '1')
      await keeping(reads, () => reads.get('c:a'))
      const changes: [() => Promise<unknown>, string | null][] = [
        [() => server().plain('SET', 'c:a', '2'), '2'],
        [() => server().plain('APPEND', 'c:a', '3'), '23'],
        [() => server().plain('DEL', 'c:a'), null],
        [() => server().plain('SET', 'c:a', '4', 'PX', '300'), '4'],
        [() => Promise.resolve(), null],
        [() => server().plain('SET', 'c:a', '5'), '5'],
        [() => server().plain('FLUSHALL'), null],
        [() => server().plain('SET', 'c:a', '6'), '6'],
      ]
      for (const [change, then] of changes) {
        await change()
        await until(async () => (await reads.get('c:a')) === then)
        if (then !== '4') await keeping(reads, () => reads.get('c:a'))
      }
    })

    it("gives no client another's form of a reply", async () => {
      const path = folder()
      const given = options({ path, limit: '16MiB' })
      await connected(from()).hset('form', 'a', '1')
      for (const replyMapping of ['legacy', 'resp3'] as const) {
        const client = new Redis({ port: from(), protocol: 3, replyMapping })
        onTestFinished(() => client.disconnect())
        const reads = open(client, given) as Any
        await keeping(reads, () => reads.call('HGETALL', 'form'))
        expect(await reads.call('HGETALL', 'form')).toEqual(await client.call('HGETALL', 'form'))
      }
    })

    it.each([
      ['get', 'tf:t', (by: string) => (reply: unknown) => `${by} ${reply}`],
      ['hgetall', 'tf:h', () => (reply: unknown) => new Map([[reply, 1]])],
    ] as const)('gives nobody what a transformer made for another: %s', async (name, key, made) => {
      const client = connected(from())
      await client.set('tf:t', 'text')
      await client.hset('tf:h', 'a', '1')
      const given = options({ path: folder(), limit: '16MiB', maxStaleness: '10s' })
      const { reply } = (Command as Any)._transformer
      const before = reply[name]
      onTestFinished(() => {
        if (before) reply[name] = before
        else delete reply[name]
      })
      for (const by of [undefined, 'one', 'two']) {
        if (by !== undefined) Command.setReplyTransformer(name, made(by))
        const reads = open(client, given) as Any
        await keeping(reads, () => reads[name](key))
        expect(await reads[name](key)).toEqual(await (client as Any)[name](key))
      }
    })

    it('makes one round trip for many callers', async () => {
      const client = connected(from())
      await client.rpush('many', 'a')
      const reads = open(client)
      await keeping(reads, () => reads.get('many:other'))
      await client.config('RESETSTAT')
      const all = await Promise.all(Array.from({ length: 200 }, () => reads.lrange('many', 0, -1)))
      expect(new Set(all).size).toBe(1)
      expect(await client.info('commandstats')).toContain('cmdstat_lrange:calls=1,')
      await client.del('many')
    })

    it('reads anew what it was told to forget', async () => {
      const client = connected(from())
      const reads = open(client, { maxStaleness: '10s' })
      await keeping(reads, () => reads.get('own'))
      for (let number = 0; number < 20; number++) {
        await client.set('own', number)
        reads.forget('own')
        expect(await reads.get('own')).toBe(String(number))
      }
    })

    it("knows the keys of namespaces and of a keyPrefix, and hears of no others'", async () => {
      const client = connected(from())
      const prefixed = new Redis({ port: from(), keyPrefix: 'ns:' })
      onTestFinished(() => prefixed.disconnect())
      const bare = await createClient({ socket: { port: from() } }).connect()
      const own = await createClient({ socket: { port: from() }, keyPrefix: 'ns:' }).connect()
      for (const one of [bare, own]) onTestFinished(() => one.destroy())
      const within = namespaced(bare, { namespace: 'ns' })
      await client.set('a', 'not this')
      for (const view of [namespaced(client, { namespace: 'ns' }), prefixed, within, own]) {
        await client.set('ns:a', '1')
        const reads = open(view as Redis, { maxStaleness: '10s' })
        expect(await reads.get('a')).toBe('1')
        await keeping(reads, () => reads.get('a'))
        await client.set('ns:a', '2')
        await until(async () => (await reads.get('a')) === '2')
        await keeping(reads, () => reads.get('a'))
      }
    })

    it('encodes a reply once', async () => {
      const client = connected(from())
      await client.del('j')
      await client.xadd('j', '1-1', 'a', '1')
      const reads = open(client)
      await keeping(reads, () => reads.json.xrange('j', '-', '+'))
      const page = await reads.json.xrange('j', '-', '+')
      expect(await reads.json.xrange('j', '-', '+')).toBe(page)
      expect(Buffer.from(page.bytes).toString()).toBe('[["1-1",["a","1"]]]')
      await client.xadd('j', '2-1', 'b', '2')
      await until(async () => (await reads.json.xrange('j', '-', '+')).etag !== page.etag)
    })

    it('encodes a reply once for callers at once, also one that is not kept', async () => {
      const client = connected(from())
      await client.rpush('at-once', 'a')
      const reads = open(client)
      const all = await Promise.all(
        Array.from({ length: 20 }, () => reads.json.lrange('at-once', 0, -1)),
      )
      expect(new Set(all).size).toBe(1)
      expect(all[0]?.text()).toBe('["a"]')
      await client.del('at-once')
    })

    it('encodes what the server sent, whatever a caller makes of the reply', async () => {
      const client = connected(from())
      await client.rpush('changed', 'a')
      const reads = open(client, { memory: { isolation: 'none' } })
      const [, page] = await Promise.all([
        reads.lrange('changed', 0, -1).then((reply) => reply.push('own')),
        reads.json.lrange('changed', 0, -1),
      ])
      expect(page.text()).toBe('["a"]')
      await client.del('changed')
    })

    it('sends a read and its questions in one piece', async () => {
      const client = connected(from())
      await client.rpush('piece', 'a')
      const reads = open(client)
      await keeping(reads, () => reads.lrange('piece', 0, -1))
      reads.forget('piece')
      const { stream } = client as unknown as { stream: Duplex }
      const pieces: string[] = []
      const { _writev: written } = stream
      // Asked before it is written, because Bun empties the list.
      stream._writev = function (chunks, done) {
        pieces.push(chunks.map(({ chunk }) => String(chunk)).join(''))
        written?.call(this, chunks, done)
      }
      await reads.lrange('piece', 0, -1)
      expect(pieces).toHaveLength(1)
      expect(pieces[0]).toMatch(/pttl.*lrange.*getex/is)
      await client.del('piece')
    })
  })

  it('goes on when the process that listens for the host is killed', async () => {
    const server = await ownServer()
    const client = connected(server.port)
    await client.set('k', 'first')
    const given = options({ path: folder(), limit: '16MiB', maxStaleness: '2s' })
    const first = await Reader.start(server.port, given)
    await first.until('first')
    const reads = open(client, given)
    await keeping(reads, () => reads.get('k'))
    first.kill()
    await client.set('k', 'second')
    await until(async () => (await reads.get('k')) === 'second')
    await keeping(reads, () => reads.get('k'))
    const other = await Reader.start(server.port, given)
    await other.until('second')
    await client.set('k', 'third')
    await Promise.all([other.until('third'), until(async () => (await reads.get('k')) === 'third')])
    other.kill()
  })

  it.skipIf(!PROGRAMS.includes('redis-server-8'))(
    'keeps no hash whose fields may expire',
    async () => {
      const server = await RedisServer.start('redis-server-8')
      onTestFinished(() => server.stop())
      const client = connected(server.port)
      await client.hset('h', 'a', '1', 'b', '2')
      const reads = open(client, { maxStaleness: '10s' })
      await keeping(reads, () => reads.hgetall('h'))
      await client.call('HPEXPIRE', 'h', '200', 'FIELDS', '1', 'a')
      await until(async () => (await reads.hgetall('h')).a === undefined)
      const { refused } = reads.stats().uncached
      await client.call('HPEXPIRE', 'h', '100000', 'FIELDS', '1', 'b')
      await until(async () => {
        await reads.hgetall('h')
        return reads.stats().uncached.refused > refused
      })
    },
  )

  it('knows of every command that servers call read-only', async () => {
    for (const program of PROGRAMS) {
      const server = await RedisServer.start(program)
      onTestFinished(() => server.stop())
      const all = (await connected(server.port).call('COMMAND')) as [
        string,
        number,
        string[],
        ...Any[],
      ][]
      const commands = all.flatMap((one) => [one, ...((one[9] as typeof all | undefined) ?? [])])
      const reading = commands.filter(([, , flags]) => flags.includes('readonly'))
      const known = new Set([...said.reads, ...Object.keys(said.refused)])
      const names = reading.map(([name]) => name.toUpperCase())
      expect(names.filter((name) => !known.has(name))).toEqual([])
    }
  })

  it('has the table of the specification', () => {
    const specified = readFileSync(new URL('../../../spec/reads.json', import.meta.url), 'utf8')
    expect(said).toEqual(JSON.parse(specified))
  })

  it('says why a read cannot be cached', async () => {
    const server = await ownServer()
    const client = connected(server.port)
    const reads = open(client, { prefixes: ['a:'] }) as Any
    await expect(reads.srandmember('a:s')).rejects.toThrow(/random/)
    await expect(reads.ttl('a:s')).rejects.toThrow(/time/)
    await expect(reads.set('a:s', '1')).rejects.toThrow(UncacheableRead)
    await expect(reads.call('SET', 'a:s', '1')).rejects.toThrow(UncacheableRead)
    await expect(reads.xread('BLOCK', 0, 'STREAMS', 'a:s', '0')).rejects.toThrow(/BLOCK/)
    await expect(reads.get('b')).rejects.toThrow(InvalidArgument)
    expect(await client.exists('a:s')).toBe(0)
    expect(() => cached({})).toThrow(InvalidArgument)
  })

  it('reads more keys than are kept as one, and keeps nothing of that', async () => {
    const server = await ownServer()
    const client = connected(server.port)
    await client.set('k1024', 'the last one')
    const reads = open(client)
    await keeping(reads, () => reads.get('k1024'))
    const keys = (many: number) => Array.from({ length: many }, (_, number) => `k${number}`)
    await keeping(reads, () => reads.mget(keys(1024)))
    const { refused } = reads.stats().uncached
    for (let times = 1; times <= 2; times++) {
      const found = await reads.mget(keys(1025))
      expect(found).toHaveLength(1025)
      expect(found[1024]).toBe('the last one')
      expect((await reads.json.mget(keys(1025))).text()).toBe(JSON.stringify(found))
      expect(reads.stats().uncached.refused).toBe(refused + 2 * times)
    }
    await client.set('k1024', 'another one')
    expect((await reads.mget(keys(1025)))[1024]).toBe('another one')
  })

  it("hands the client's errors and replies out when the server is gone for the cache", async () => {
    const server = await ownServer()
    const client = connected(server.port)
    await client.hset('h', 'a', '1')
    const reads = open(client)
    await keeping(reads, () => reads.hgetall('h'))
    await expect(reads.get('h')).rejects.toThrow(/WRONGTYPE/)
    const lonely = new Redis({
      port: server.port,
      maxRetriesPerRequest: 0,
      retryStrategy: null as Any,
    })
    lonely.on('error', () => {})
    const others = open(lonely)
    await lonely.ping()
    await server.stop()
    await expect(others.get('x')).rejects.toThrow()
  })
})

// The module JSON answers JSON.GET with a text. So does a server whose GET is called that.
describe.skipIf(!hasServer)('a document', () => {
  it.each(['freeze', 'none'] as const)('is its own JSON, isolation %s', async (isolation) => {
    const server = await ownServer('--rename-command', 'GET', 'JSON.GET')
    const client = connected(server.port)
    const path = folder()
    const given = options({ path, limit: '16MiB', memory: { isolation } })
    const reads = open(client, given)
    const other = open(client, given)
    const document = async (by: typeof reads, method: 'call' | 'callBuffer' = 'call') =>
      Buffer.from((await by.json[method]('JSON.GET', 'doc')).bytes).toString()
    expect(await document(reads)).toBe('null')
    for (const text of ['{"a": [1.50, "ü"],\n "a": 2}', '[]']) {
      await client.set('doc', text)
      await until(async () => (await document(reads)) === text)
      await keeping(reads, () => document(reads))
      expect(await reads.call('JSON.GET', 'doc')).toBe(text)
      expect(await document(reads, 'callBuffer')).toBe(text)
      expect(await document(other)).toBe(text)
    }
  })

  it('is encoded again where the program has it decoded', async () => {
    const server = await ownServer('--rename-command', 'GET', 'JSON.GET')
    const client = connected(server.port)
    Command.setReplyTransformer('JSON.GET', (text: string | null) => text && JSON.parse(text))
    onTestFinished(() => {
      delete (Command as Any)._transformer.reply['JSON.GET']
    })
    const reads = open(client)
    for (const text of ['"hello"', '"12"', '{"a":[1,"ü"]}']) {
      await client.set('doc', text)
      const json = async () =>
        Buffer.from((await reads.json.call('JSON.GET', 'doc')).bytes).toString()
      await until(async () => (await json()) === text)
    }
  })

  it("is read by node-redis' sendCommand, in a namespace too", async () => {
    const server = await ownServer('--rename-command', 'GET', 'JSON.GET')
    const client = createClient({ socket: { port: server.port } })
    // The server may end before it.
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => client.destroy())
    const bytes = client.withCommandOptions({ typeMapping: { 36: Buffer } })
    for (const [of, key] of [
      [client, 'doc'],
      [namespaced(client, { namespace: 'app', commands: said.modules as Any }), 'app:doc'],
      [bytes, 'doc'],
    ] as const) {
      const reads: Any = open(of as Any)
      const words = ['JSON.GET', 'doc']
      for (const text of ['{"a": 1}', '[]']) {
        await client.set(key, text)
        await until(async () => String(await reads.sendCommand(words)) === text)
        await keeping(reads, () => reads.json.sendCommand(words))
        expect(await reads.sendCommand(words)).toEqual(of === bytes ? Buffer.from(text) : text)
        expect(Buffer.from((await reads.json.sendCommand(words)).bytes).toString()).toBe(text)
      }
      await expect(reads.sendCommand(['SET', 'doc', '1'])).rejects.toThrow(UncacheableRead)
      // biome-ignore lint/suspicious/noSparseArray: a hole is no word
      const wrongs = [[], ['JSON.GET'], [['JSON.GET', 1]], [['JSON.GET', , 'b']], [[]], [null]]
      for (const wrong of [...wrongs, [words, { typeMapping: {} }]])
        await expect(reads.sendCommand(...wrong)).rejects.toThrow(/^cached reads take sendCommand/)
      expect(await reads.sendCommand([Buffer.from('json.get'), 'none'])).toBeNull()
    }
    const shop: Any = namespaced(client, { namespace: 'shop' })
    const inShop: Any = open(shop)
    await shop.xAdd('s', '1-1', { a: 'b' })
    const xread = ['XREAD', 'COUNT', '5', 'STREAMS', 's', '0']
    // The first is the client's, the others are kept.
    for (let turn = 0; turn < 3; turn++) {
      await keeping(inShop, () => inShop.sendCommand(xread))
      expect(await inShop.sendCommand(xread)).toEqual(await shop.sendCommand(xread))
    }
    const unknown: Any = open(namespaced(client, { namespace: 'app' }))
    await expect(unknown.sendCommand(['JSON.GET', 'doc'])).rejects.toThrow(UnknownCommand)
  })
})
