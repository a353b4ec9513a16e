/** A cache by a client's settings, on a server with users: the client's own connection stays as it was. */
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { expect, onTestFinished, test } from 'vitest'
import { hasServer, ownServer, Site } from '../support/remote-caches.ts'

interface Client {
  readonly client: object
  readonly call: (...words: string[]) => Promise<unknown>
}

const USER = { username: 'ada', password: 'secret' }

const KINDS: Record<string, (port: number) => Promise<Client>> = {
  async ioredis(port) {
    const client = new Redis({ host: '127.0.0.1', port, ...USER, db: 3 })
    // The server may be gone before.
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    return { client, call: (name, ...words) => client.call(name, ...words) }
  },
  async 'node-redis'(port) {
    const client = createClient({ socket: { host: '127.0.0.1', port }, ...USER, database: 3 })
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => client.destroy())
    return { client, call: (...words) => client.sendCommand(words) }
  },
}

/** What the server says of a connection, without what passes with time. */
async function shown({ call }: Client): Promise<object> {
  const id = String(await call('CLIENT', 'ID'))
  const lines = String(await call('CLIENT', 'LIST')).split('\n')
  const line = lines.find((line) => line.startsWith(`id=${id} `)) ?? ''
  const fields = Object.fromEntries(line.split(' ').map((field) => field.split('=', 2)))
  const { addr, name, flags, db, sub, psub, multi, watch, user, redir, resp } = fields
  return { addr, name, flags, db, sub, psub, multi, watch, user, redir, resp }
}

test.skipIf(!hasServer).each(Object.entries(KINDS))('%s', async (_, connect) => {
  const ada = ['--user', 'ada', 'on', '>secret', '~*', '&*', '+@all']
  const server = await ownServer(...ada, '--user', 'default', 'off')
  const one = await connect(server.port)
  const before = await shown(one)
  const site = new Site({ url: '' })
  const cache = site.open({ remote: one.client })
  await cache.set('k', 'v')
  expect(await cache.get('k')).toBe('v')
  expect(await cache.getOrSet('other', () => 'loaded')).toBe('loaded')
  expect(await shown(one)).toEqual(before)
  expect(before).toMatchObject({ user: 'ada', db: '3' })
  // In the client's database, where the client sees it.
  expect(await one.call('EXISTS', site.key('k'))).toBe(1)
  const connections = String(await one.call('CLIENT', 'LIST'))
    .trim()
    .split('\n')
  expect(connections.length).toBeGreaterThan(1)
  for (const line of connections) expect(line).toContain('user=ada')
  await cache.close()
  expect(await one.call('EXISTS', site.key('k'))).toBe(1)
})
