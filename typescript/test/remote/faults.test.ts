/** Without an answer from the server: reads miss, writes are rejected, loaders run, and the event loop goes on. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Cache, RemoteUnavailable } from '../../src/index.ts'
import { RedisServer, until } from '../support/redis-server.ts'
import { hasServer, listening, ownServer, Site } from '../support/remote-caches.ts'

/** Runs something, and says how many turns the event loop took meanwhile. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await work.catch(() => {})
  isOver = true
  return turns
}

/** What holds whenever the server does not answer. */
async function expectWithout(cache: Cache): Promise<void> {
  expect(await cache.get('missing')).toBeUndefined()
  expect(await cache.peek('missing')).toBeUndefined()
  expect(await cache.has('missing')).toBe(false)
  expect(await cache.ttl('missing')).toBeUndefined()
  expect(await cache.entry('missing')).toBeUndefined()
  expect([...(await cache.getMany(['missing', 'gone']))]).toEqual([])
  const writes = [
    cache.set('k', 1),
    cache.add('k', 1),
    cache.replace('k', 1),
    cache.delete('k'),
    cache.increment('k'),
    cache.update('k', () => 1),
    cache.take('k'),
    cache.touch('k'),
    cache.clear(),
    cache.setMany({ k: 1 }),
    cache.deleteMany(['k']),
    cache.deletePrefix('k'),
    cache.lease('k').acquire(),
    (async () => {
      for await (const key of cache.keys()) throw new Error(String(key))
    })(),
  ]
  for (const settled of await Promise.allSettled(writes)) {
    expect(settled).toMatchObject({ status: 'rejected', reason: expect.any(RemoteUnavailable) })
  }
  expect(await cache.getOrSet('k', () => 'loaded')).toBe('loaded')
  const many = await cache.getOrSetMany(['a', 'b'], (keys) =>
    keys.map((key) => [key, key] as const),
  )
  expect([...many]).toEqual([
    ['a', 'a'],
    ['b', 'b'],
  ])
  expect((await cache.stats()).unstored).toBeGreaterThan(0)
  expect(cache.remoteStats()?.faults).toBeGreaterThan(0)
  expect(cache.remoteStats()?.lastFault).not.toBe('')
}

describe('a server that was never there', () => {
  test('nothing waits for it, and nothing hangs', async () => {
    // A port where nobody listens.
    const site = new Site({ url: 'redis://127.0.0.1:1' })
    for (const cache of [site.open({ timeout: '250ms' }), site.host({ timeout: '250ms' })]) {
      await expectWithout(cache)
    }
  })

  test('storeErrors: raise tells the caller', async () => {
    const site = new Site({ url: 'redis://127.0.0.1:1' })
    const cache = site.open({ storeErrors: 'raise' })
    await expect(cache.getOrSet('k', () => 1)).rejects.toBeInstanceOf(RemoteUnavailable)
  })
})

describe.skipIf(!hasServer)('a server', () => {
  test('that was killed', async () => {
    const server = await RedisServer.start('redis-server')
    onTestFinished(() => server.stop())
    const cache = new Site(server).open({ timeout: '250ms' })
    await cache.set('k', 'v')
    await server.stop()
    await until(async () => (await cache.get('other')) === undefined && cache.remoteStats()?.faults)
    await expectWithout(cache)
  })

  test('that hangs: the event loop goes on, and a writer waits for the timeout only', async () => {
    const server = await ownServer()
    const cache = new Site(server).host({ timeout: '250ms' })
    await listening(cache)
    server.pause()
    // Before the circuit breaker opens, each of them waits.
    const calls = [cache.set('a', 1), cache.get('b'), cache.increment('c')]
    expect(await turnsDuring(Promise.allSettled(calls))).toBeGreaterThan(20)
    await expectWithout(cache)
    server.resume()
    await until(async () => {
      await cache.set('k', 'back').catch(() => {})
      return (await cache.get('k')) === 'back'
    })
  })

  test('that hangs while a hundred callers load: each gets what was loaded', async () => {
    const server = await ownServer()
    const cache = new Site(server).host({ timeout: '250ms' })
    await cache.set('k', 1)
    server.pause()
    const calls = Array.from({ length: 100 }, (_, at) =>
      cache.getOrSet(`k${at % 10}`, () => at % 10),
    )
    const turns = await turnsDuring(Promise.all(calls))
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 100 }, (_, at) => at % 10))
    expect(turns).toBeGreaterThan(20)
    server.resume()
  })

  test('that hangs stalls neither files nor names of the program', async () => {
    const { readFile } = await import('node:fs/promises')
    const server = await ownServer()
    const cache = new Site(server).open({ timeout: '60s' })
    await cache.set('k', 1)
    server.pause()
    // More of them than libuv has threads.
    const calls = Array.from({ length: 16 }, (_, at) => cache.get(`k${at}`))
    let answered = 0
    for (const call of calls) call.finally(() => answered++)
    await readFile(new URL(import.meta.url))
    expect(answered).toBe(0)
    server.resume()
    await Promise.all(calls)
  })

  test('whose password is another one', async () => {
    const server = await ownServer('--requirepass', 'secret')
    const right = new Site({ url: `redis://:secret@127.0.0.1:${server.port}` }).open()
    await right.set('k', 1)
    expect(await right.get('k')).toBe(1)
    await expectWithout(new Site({ url: `redis://:wrong@127.0.0.1:${server.port}` }).open())
    await expectWithout(new Site(server).open())
  })

  test('that can only be read', async () => {
    const server = await ownServer()
    const cache = new Site(server).open({ timeout: '1s' })
    await cache.set('k', 'v')
    await server.plain('REPLICAOF', '127.0.0.1', '1')
    await until(async () => {
      const error = await cache.set('k', 'w').catch((failed: unknown) => failed)
      return error instanceof RemoteUnavailable
    })
    expect(await cache.getOrSet('other', () => 'loaded')).toBe('loaded')
  })
})
