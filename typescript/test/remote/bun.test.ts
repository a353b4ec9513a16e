/** A cache by Bun's own client: the default one has its URL from the environment, others do not tell theirs. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { Cache, InvalidArgument } from '../../src/index.ts'
import { namespaced } from '../../src/redis-namespace/index.ts'
import { settingsOf } from '../../src/remote/settings.ts'
import { bunClient, isBun } from '../support/bun-redis.ts'
import { failure } from '../support/failure.ts'
import { hasServer, ownServer, Site } from '../support/remote-caches.ts'

const SCRIPT = fileURLToPath(new URL('../support/bun-default.ts', import.meta.url))
const NOBODY = 'redis://127.0.0.1:1'

/** What a program with the default client tells, run in this environment. */
async function told(variables: Record<string, string>, prefix: string): Promise<unknown> {
  const { REDIS_URL: _, VALKEY_URL: __, ...env } = process.env
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit']
  const child = spawn(process.execPath, [SCRIPT, prefix], { env: { ...env, ...variables }, stdio })
  let said = ''
  child.stdout.on('data', (data) => {
    said += String(data)
  })
  await once(child, 'close')
  return JSON.parse(said)
}

describe.skipIf(!isBun)("Bun's client", () => {
  test.skipIf(!hasServer)('the default one, by each variable', async () => {
    const server = await ownServer('--user', 'ada', 'on', '>s e', '~*', '&*', '+@all')
    const url = `redis://ada:s%20e@127.0.0.1:${server.port}/3`
    for (const variables of [
      { REDIS_URL: url, VALKEY_URL: NOBODY },
      { VALKEY_URL: url },
      { REDIS_URL: url.replace('redis:', 'valkey:') },
      { REDIS_URL: url.replace('redis://', '') },
    ]) {
      await server.plain('FLUSHALL')
      const { prefix } = new Site(server)
      const found = (await told(variables, prefix)) as { keys: string[] }
      // All connections are this user's, and the cache's keys are in the client's database.
      expect(found).toMatchObject({ users: ['ada'], read: null })
      expect(found.keys).toContain(`${prefix}:::key`)
    }
  })

  test('its default, where nothing is said', () => {
    const { redis } = (globalThis as unknown as { Bun: { redis: object } }).Bun
    const { REDIS_URL, VALKEY_URL } = process.env
    delete process.env.REDIS_URL
    delete process.env.VALKEY_URL
    try {
      expect(settingsOf(redis)).toEqual({
        addresses: [{ host: 'localhost', port: 6379 }],
        cluster: false,
        database: 0,
      })
    } finally {
      if (REDIS_URL !== undefined) process.env.REDIS_URL = REDIS_URL
      if (VALKEY_URL !== undefined) process.env.VALKEY_URL = VALKEY_URL
    }
  })

  test('another one, which does not tell its URL', () => {
    const client = bunClient(NOBODY)
    for (const open of [() => settingsOf(client), () => new Cache({ remote: client })]) {
      expect(failure(open)).toBeInstanceOf(InvalidArgument)
      expect(failure(open)).toMatchObject({
        message: expect.stringContaining("give remote the client's URL, or { url, tls }"),
      })
    }
    expect(() => settingsOf(namespaced(client, { namespace: 'shop' }))).toThrow(InvalidArgument)
  })
})

test.skipIf(!hasServer)('a server by its URL and TLS options', async () => {
  const server = await ownServer()
  const cache = new Site(server).open({ remote: { url: `${server.url}/2`, tls: false } })
  await cache.set('k', 'v')
  expect(await cache.get('k')).toBe('v')
  expect(await server.plain('DBSIZE')).toBe(':0')
  await cache.close()
})
