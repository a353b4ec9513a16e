/** Cached reads of Bun's own client. */
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { InvalidArgument } from '../../src/errors.ts'
import { bunWay } from '../../src/reads/bun.ts'
import { cached, UncacheableRead } from '../../src/reads/index.ts'
import { isReadMethod } from '../../src/reads/plan.ts'
import type { BunRedis } from '../../src/redis-namespace/bun.ts'
import { namesOf } from '../../src/redis-namespace/forward.ts'
import { namespaced } from '../../src/redis-namespace/index.ts'
import { bunClient, isBun } from '../support/bun-redis.ts'
import { keeping, open, options } from '../support/cached-reads.ts'
import { folder } from '../support/caches.ts'
import { fakeRedis, resp } from '../support/fake-redis.ts'
import { Reader } from '../support/reader.ts'
import { PROGRAMS, RedisServer, until } from '../support/redis-server.ts'
import { everywhere, hasServer, ownServer } from '../support/remote-caches.ts'

// biome-ignore lint/suspicious/noExplicitAny: the types are Bun's
type Any = any

/** Bun's own `rejects` lets nothing else happen meanwhile. */
async function fails(call: Promise<unknown>, how: RegExp | (new (message: string) => Error)) {
  const failure = await call.then(
    () => undefined,
    (error: Error) => error,
  )
  if (how instanceof RegExp) expect(failure?.message).toMatch(how)
  else expect(failure).toBeInstanceOf(how)
}

const CALLS: [string, ...unknown[]][] = [
  ['xrange', 'k:x', '-', '+'],
  ['xrange', 'k:x', '-', '+', 'COUNT', 2],
  ['xrevrange', 'k:x', '+', '-'],
  ['xlen', 'k:x'],
  ['xread', 'COUNT', 2, 'STREAMS', 'k:x', '0'],
  ['hgetall', 'k:h'],
  ['hgetall', 'k:none'],
  ['hget', 'k:h', 'b'],
  ['hmget', 'k:h', ['a', 'none']],
  ['hexists', 'k:h', 'a'],
  ['hkeys', 'k:h'],
  ['hvals', 'k:h'],
  ['lrange', 'k:l', 0, -1],
  ['lindex', 'k:l', 1],
  ['llen', 'k:l'],
  ['zrange', 'k:z', 0, -1],
  ['zrange', 'k:z', 0, -1, 'WITHSCORES'],
  ['zrangebyscore', 'k:z', '-inf', '+inf'],
  ['zscore', 'k:z', 'c'],
  ['zscore', 'k:z', 'none'],
  ['zrank', 'k:z', 'b'],
  ['zcard', 'k:z'],
  ['smembers', 'k:s'],
  ['sismember', 'k:s', 'm'],
  ['get', 'k:t'],
  ['get', Buffer.from('k:t')],
  ['getBuffer', 'k:t'],
  ['getBuffer', 'k:b'],
  ['get', 'k:b'],
  ['get', 'k:none'],
  ['mget', 'k:t', 'k:none'],
  ['strlen', 'k:t'],
  ['getrange', 'k:t', 0, 1],
  ['exists', 'k:t'],
  ['type', 'k:t'],
  ['send', 'eval_ro', ["return {redis.call('get', KEYS[1]), ARGV[1], 7}", '1', 'k:t', 'x']],
  ['send', 'LRANGE', ['k:l', '0', '-1']],
]

async function fill(client: Any): Promise<void> {
  await client.send('FLUSHALL', [])
  for (const name of ['one', 'two', 'three']) await client.xadd('k:x', '*', 'name', name, 'n', '1')
  await client.hset('k:h', { a: '1', b: 'zwei', ü: 'ö' })
  await client.send('HSET', ['k:h', '__proto__', 'field'])
  await client.rpush('k:l', 'a', 'b', 'c')
  await client.zadd('k:z', 1, 'a', 2.5, 'b', Number.POSITIVE_INFINITY, 'c')
  await client.sadd('k:s', 'm')
  await client.set('k:t', 'text')
  await client.set('k:b', Buffer.from([255, 0, 254]))
}

describe.skipIf(!isBun || !hasServer)("cached reads of Bun's client", () => {
  everywhere((server) => {
    const client = () => bunClient(server().url) as Any
    const opened = (given = {}, of = client()) =>
      open(of as object, { remote: server().url, ...given }) as Any

    it('gives what the client gives, from the server, from memory and from the host', async () => {
      const bare = client()
      await fill(bare)
      const given = options({ path: folder(), limit: '16MiB' })
      const reads = opened(given, bare)
      const other = opened(given, bare)
      await keeping(reads, () => reads.get('k:t'))
      for (const [method, ...words] of CALLS) {
        const expected = await bare[method](...words)
        const sent = reads.stats().sent
        expect(await reads[method](...words), method).toStrictEqual(expected)
        expect(await reads[method](...words), method).toStrictEqual(expected)
        expect(reads.stats().sent, method).toBeLessThanOrEqual(sent + 1)
        const before = other.stats().hostHits
        expect(await other[method](...words), method).toStrictEqual(expected)
        expect(other.stats().hostHits, `${method} of the host`).toBe(before + 1)
      }
    })

    it('makes one read for many callers', async () => {
      const bare = client()
      await fill(bare)
      // What a client without its automatic pipelines does is right, too, in more of them.
      for (const enableAutoPipelining of [true, false]) {
        const reads = opened({}, bunClient(server().url, { enableAutoPipelining }))
        await keeping(reads, () => reads.hgetall('k:h'))
        await bare.send('CONFIG', ['RESETSTAT'])
        const all = await Promise.all(Array.from({ length: 200 }, () => reads.lrange('k:l', 0, -1)))
        expect(new Set(all).size).toBe(1)
        expect(await bare.send('INFO', ['commandstats'])).toContain('cmdstat_lrange:calls=1,')
      }
    })

    it('shows what another program writes, deletes, expires and flushes', async () => {
      const bare = client()
      const reads = opened({ path: folder(), limit: '16MiB', maxStaleness: '10s' }, bare)
      await bare.set('c:a', '1')
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

    it('hears of a key while its type changes', async () => {
      const reads = opened({ maxStaleness: '10s' })
      await server().plain('SET', 'w', 'text')
      await keeping(reads, () => reads.get('w'))
      await server().plain('DEL', 'w')
      await server().plain('HSET', 'w', 'a', '1')
      await until(async () => (await reads.get('w').catch(() => 'refused')) === 'refused')
      await fails(reads.get('w'), /WRONGTYPE/)
      await fails(reads.json.get('w'), /WRONGTYPE/)
      await keeping(reads, () => reads.hgetall('w'))
      await server().plain('SET', 'w', 'again')
      await until(async () => (await reads.get('w').catch(() => '')) === 'again')
    })

    it('goes on when its connection is killed', async () => {
      const bare = client()
      await bare.set('r', 'first')
      const reads = opened({ path: folder(), limit: '16MiB', maxStaleness: '10s' }, bare)
      await keeping(reads, () => reads.get('r'))
      for (let number = 0; number < 20; number++) {
        const value = String(number)
        await server().plain('SET', 'r', value)
        await server().plain('CLIENT', 'KILL', 'TYPE', 'normal')
        // Commands that were sent are rejected by the client.
        await until(async () => (await reads.get('r').catch(() => 'lost')) === value)
        await keeping(reads, () => reads.get('r').catch(() => 'lost'))
        expect(await reads.get('r')).toBe(value)
      }
    })

    it("knows the keys of namespaces, and hears of no others'", async () => {
      const bare = client()
      const reads = opened(
        { maxStaleness: '10s', prefixes: ['a', 's'] },
        namespaced(bare, { namespace: 'ns' }),
      )
      await bare.set('ns:a', '1')
      await bare.set('a', 'other')
      await keeping(reads, () => reads.get('a'))
      await bare.set('ns:a', '2')
      await until(async () => (await reads.get('a')) === '2')
      await bare.send('DEL', ['ns:s'])
      await bare.xadd('ns:s', '1-1', 'f', 'v')
      const streams = { s: [['1-1', ['f', 'v']]] }
      await keeping(reads, () => reads.xread('STREAMS', 's', '0'))
      expect({ ...(await reads.xread('STREAMS', 's', '0')) }).toEqual(streams)
      await fails(reads.get('b'), InvalidArgument)
    })

    it('encodes a reply once, and reads anew what it was told to forget', async () => {
      const bare = client()
      await bare.del('j')
      await bare.xadd('j', '1-1', 'a', '1')
      const reads = opened({ maxStaleness: '10s' }, bare)
      await keeping(reads, () => reads.json.xrange('j', '-', '+'))
      const page = await reads.json.xrange('j', '-', '+')
      expect(await reads.json.xrange('j', '-', '+')).toBe(page)
      expect(Buffer.from(page.bytes).toString()).toBe('[["1-1",["a","1"]]]')
      await bare.xadd('j', '2-1', 'b', '2')
      reads.forget('j')
      expect((await reads.json.xrange('j', '-', '+')).etag).not.toBe(page.etag)
      for (let number = 0; number < 20; number++) {
        await bare.set('own', String(number))
        reads.forget('own')
        expect(await reads.get('own')).toBe(String(number))
      }
    })
  })

  it('keeps nothing by another server than the one that it was told of', async () => {
    const [told, own] = [await ownServer(), await ownServer()]
    await told.plain('SET', 'k', 'theirs')
    await own.plain('SET', 'k', 'own')
    const reads = open(bunClient(own.url) as Any, { remote: told.url }) as Any
    const { refused } = reads.stats().uncached
    await until(async () => {
      expect(await reads.get('k')).toBe('own')
      return reads.stats().uncached.refused > refused + 5
    })
    expect(reads.stats()).toMatchObject({ memoryHits: 0, hostHits: 0 })
  })

  it('asks in one round trip', async () => {
    const server = await ownServer()
    const behind = new Redis({ port: server.port })
    onTestFinished(() => behind.disconnect())
    await behind.hset('h', 'a', '1')
    const batch = ['GETEX', 'PTTL', 'INFO', 'HGETALL', 'GETEX']
    const arrived: string[] = []
    let asked: string[] = []
    const answer = async ([name, ...rest]: string[]) => {
      if (asked.length > 0) await until(() => arrived.length === asked.length)
      return resp(await behind.call(name, ...rest))
    }
    const port = await fakeRedis(answer, ([name]) => arrived.push(name.toUpperCase()))
    const client = bunClient(`redis://127.0.0.1:${port}`)
    const reads = open(client as Any, { remote: server.url, maxStaleness: '10s' }) as Any
    await keeping(reads, () => reads.hgetall('h'))
    reads.forget('h')
    arrived.length = 0
    asked = batch
    await reads.hgetall('h')
    expect(arrived).toEqual(batch)
    await keeping(reads, () => reads.hgetall('h'))
  })

  // The batch is GETEX, PTTL, GET, GETEX.
  it.each([1, 2, 3])(
    'keeps nothing when the connection is another one after %d commands',
    async (after) => {
      const server = await ownServer()
      const behind = new Redis({ port: server.port })
      onTestFinished(() => behind.disconnect())
      await behind.set('k', 'new')
      // What the client asks is answered by the server, or by one that was replaced.
      let isStale = (_asked: number): boolean => false
      let asked = 0
      const port = await fakeRedis(async (words) => {
        const [name, ...rest] = words
        if (!isStale(asked++)) return resp(await behind.call(name, ...rest))
        return { GET: resp('old'), PTTL: resp(-1) }[name] ?? resp(null)
      })
      const client = bunClient(`redis://127.0.0.1:${port}`)
      const reads = open(client as Any, { remote: server.url, maxStaleness: '10s' }) as Any
      await keeping(reads, () => reads.get('k'))
      for (const isStaleFirst of [true, false]) {
        isStale = (number) => number < after === isStaleFirst
        for (let number = 0; number < 5; number++) {
          reads.forget('k')
          asked = 0
          await reads.get('k')
          expect(asked).toBe(4)
        }
        isStale = () => false
        expect(await reads.get('k')).toBe('new')
        await keeping(reads, () => reads.get('k'))
      }
    },
  )

  it('goes on when the process that listens for the host is killed', async () => {
    const server = await ownServer()
    const client = bunClient(server.url) as Any
    await client.set('k', 'first')
    const remote = server.url
    const given = options({ path: folder(), limit: '16MiB', maxStaleness: '2s', remote })
    const first = await Reader.start(server.port, given, 'bun')
    await first.until('first')
    const reads = open(client, given) as Any
    await keeping(reads, () => reads.get('k'))
    first.kill()
    await client.set('k', 'second')
    await until(async () => (await reads.get('k')) === 'second')
    await keeping(reads, () => reads.get('k'))
  })

  it.skipIf(!PROGRAMS.includes('redis-server-8'))(
    'keeps no hash whose fields may expire',
    async () => {
      const server = await RedisServer.start('redis-server-8')
      onTestFinished(() => server.stop())
      const client = bunClient(server.url) as Any
      await client.hset('h', { a: '1', b: '2' })
      const reads = open(client, { maxStaleness: '10s', remote: server.url }) as Any
      await keeping(reads, () => reads.hgetall('h'))
      await client.send('HPEXPIRE', ['h', '200', 'FIELDS', '1', 'a'])
      await until(async () => (await reads.hgetall('h')).a === undefined)
      const { refused } = reads.stats().uncached
      await client.send('HPEXPIRE', ['h', '100000', 'FIELDS', '1', 'b'])
      await until(async () => {
        await reads.hgetall('h')
        return reads.stats().uncached.refused > refused
      })
    },
  )

  it('says why a read cannot be cached', async () => {
    const server = await ownServer()
    const client = bunClient(server.url) as Any
    expect(() => cached(client as object)).toThrow(/does not tell its URL/)
    expect(() => cached(client as object, { remote: 'http://127.0.0.1' })).toThrow(InvalidArgument)
    const reads = open(client, { prefixes: ['a:'], remote: server.url }) as Any
    await fails(reads.srandmember('a:s'), /random/)
    await fails(reads.ttl('a:s'), /time/)
    await fails(reads.set('a:s', '1'), UncacheableRead)
    await fails(reads.send('SET', ['a:s', '1']), UncacheableRead)
    await fails(reads.send('set', ['a:s', '1']), UncacheableRead)
    await fails(reads.xread('BLOCK', 0, 'STREAMS', 'a:s', '0'), /BLOCK/)
    await fails(reads.get('b'), InvalidArgument)
    for (const key of [
      new Blob(['a:s']),
      new Uint16Array(2),
      new ArrayBuffer(2),
      {},
      null,
      undefined,
    ]) {
      await fails(reads.get(key), InvalidArgument)
    }
    await fails(
      reads.send('GET', 'a:s', () => {}),
      InvalidArgument,
    )
    expect(await client.exists('a:s')).toBe(false)
  })

  it("hands the client's errors out when the server is gone", async () => {
    const server = await ownServer()
    const client = bunClient(server.url, { maxRetries: 1 }) as Any
    await client.set('k', 'v')
    const reads = open(client, { remote: server.url }) as Any
    await keeping(reads, () => reads.get('k'))
    await server.stop()
    await fails(reads.get('x'), /connection/i)
  })

  it('reads what it was given when it was called', async () => {
    const server = await ownServer()
    const client = bunClient(server.url) as Any
    await client.mset('1', 'one', '2', 'two')
    const reads = open(client, { remote: server.url }) as Any
    const key = Buffer.from('1')
    const words = ['1']
    // The first ones wait until the server is known.
    const asked = [reads.get(key), reads.send('MGET', words)]
    key.write('2')
    words[0] = '2'
    expect(await Promise.all(asked)).toEqual(['one', ['one']])
    expect(await reads.get('1')).toBe('one')
    expect(await reads.get('2')).toBe('two')
  })
})

describe.skipIf(!isBun)("the words of Bun's methods", () => {
  it('are those that it sends, and perhaps more', async () => {
    const sent: string[][] = []
    const port = await fakeRedis((words) => {
      sent.push(words)
      return resp('1')
    })
    const client = bunClient(`redis://127.0.0.1:${port}`) as unknown as BunRedis
    const way = bunWay(client, (view) => view)
    const all = [...namesOf(client)].filter(isReadMethod)
    expect(all.length).toBeGreaterThanOrEqual(60)
    const keys: unknown[] = ['k', Buffer.from([107, 255]), 7, 1e21, 'ü\ud800', '']
    for (const name of all) {
      for (const key of keys) {
        const given = name === 'send' ? ['LRANGE', [key, 0, -1]] : [key, 'b', 3, 'd', -0, 'f']
        sent.length = 0
        const { words, send } = way.prepare(name, given)
        const isDone = await send().then(
          () => true,
          () => false,
        )
        if (!isDone && sent.length === 0) continue
        const planned = words.map((word) => Buffer.from(word as string).toString('latin1'))
        expect(planned.slice(0, sent[0].length), name).toEqual(sent[0])
      }
    }
  })
})
