/** The connection of a thread's calls: what is sent on it, and when it ends. */
import { expect, test } from 'vitest'
import type { Cache } from '../../src/index.ts'
import { type RedisServer, until } from '../support/redis-server.ts'
import { everywhere, Site } from '../support/remote-caches.ts'

async function readsThrough(server: RedisServer, timeout = '5s'): Promise<Cache> {
  const cache = new Site(server).open({ maxStaleness: 0, timeout })
  await cache.set('warm', 'up')
  return cache
}

/** How many connections the server has, this one among them. */
async function connections(server: RedisServer): Promise<number> {
  return (await server.lines('CLIENT', 'LIST')).length
}

everywhere((server) => {
  test('calls that are not awaited are carried out in the order in which they were made', async () => {
    const cache = await readsThrough(server())
    const seen: Promise<unknown>[] = []
    for (let number = 0; number < 500; number++) {
      cache.set('k', number)
      if (number % 50 === 49) seen.push(cache.get('k') as Promise<unknown>)
    }
    expect(await Promise.all(seen)).toEqual(seen.map((_, at) => at * 50 + 49))
  })

  test('all calls of a thread go out on one connection', async () => {
    const before = await connections(server())
    const cache = await readsThrough(server())
    await Promise.all(Array.from({ length: 300 }, (_, at) => cache.set(`k${at}`, at)))
    // The background thread may have one, too.
    expect(await connections(server())).toBeLessThanOrEqual(before + 2)
    await cache.close()
    await until(async () => (await connections(server())) <= before)
  })

  test('an answer that came while the program did something else is no fault', async () => {
    const cache = await readsThrough(server(), '100ms')
    await cache.set('k', 'v')
    for (let turn = 0; turn < 5; turn++) {
      const read = cache.get('k')
      // It goes out at the end of this turn, and the thread is held up for longer than the timeout.
      queueMicrotask(() =>
        queueMicrotask(() => {
          const end = performance.now() + 250
          while (performance.now() < end);
        }),
      )
      expect(await read).toBe('v')
    }
    expect(cache.remoteStats()?.faults).toBe(0)
  })

  test('after a connection was killed reads are answered, and a write when it has been noticed', async () => {
    const cache = await readsThrough(server())
    await cache.set('k', 'v')
    await server().plain('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    expect(await cache.get('k')).toBe('v')
    await cache.set('k', 'w')
    expect(await cache.get('k')).toBe('w')
  })

  test('more calls than there are fibers', async () => {
    const cache = await readsThrough(server())
    const keys = Array.from({ length: 3000 }, (_, at) => `k${at}`)
    await Promise.all(keys.map((key) => cache.set(key, key)))
    expect(await Promise.all(keys.map((key) => cache.get(key)))).toEqual(keys)
  })

  test('values that are large for an event loop', async () => {
    const cache = await readsThrough(server())
    const large = 'x'.repeat(300_000)
    const write = cache.set('k', large)
    await cache.set('small', 1)
    await write
    expect(await cache.get('k')).toBe(large)
  })
})
