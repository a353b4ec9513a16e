/** Which calls share a reply, and which do not. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { InvalidArgument } from '../../src/errors.ts'
import { namespaced } from '../../src/redis-namespace/index.ts'
import { bunClient, isBun } from '../support/bun-redis.ts'
import { keeping, open, options } from '../support/cached-reads.ts'
import { folder } from '../support/caches.ts'
import { hasServer, ownServer } from '../support/remote-caches.ts'

// biome-ignore lint/suspicious/noExplicitAny: each client has other methods
type Any = any

function connected(port: number): Redis {
  const client = new Redis({ port })
  onTestFinished(() => client.disconnect())
  return client
}

async function nodeRedis(port: number) {
  const client = createClient({ socket: { port } })
  // The server may end before it.
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.destroy())
  return client
}

/** What a call fails with; Bun's own `rejects` lets nothing else happen meanwhile. */
function failure(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  )
}

const clients = {
  ioredis: connected,
  'node-redis': nodeRedis,
  ...(isBun && { bun: (port: number) => bunClient(`redis://127.0.0.1:${port}`) }),
}

describe.skipIf(!hasServer).each(Object.entries(clients))(
  'a namespace that a function gives, of %s',
  (how, connect) => {
    const tenant = new AsyncLocalStorage<string>()
    const store = () => {
      const name = tenant.getStore()
      if (name === undefined) throw new TypeError('outside of a request')
      return name
    }

    async function opened(namespace: Any, given: object = {}) {
      const server = await ownServer()
      for (const name of ['acme', 'globex', 'a', 'a:b'])
        await server.plain('SET', `${name}:k`, `of ${name}`)
      const client = await connect(server.port)
      const remote = `redis://127.0.0.1:${server.port}`
      const view = namespaced(client as object, { namespace }) as Any
      return {
        server,
        reads: open(view, {
          maxStaleness: '10s',
          ...given,
          ...(how === 'bun' && { remote }),
        }) as Any,
      }
    }

    it("gives no tenant another's reply", async () => {
      const { server, reads } = await opened(store, { prefixes: ['k'] })
      for (const name of ['acme', 'globex', 'a', 'a:b']) {
        await tenant.run(name, async () => {
          await keeping(reads, () => reads.get('k'))
          expect(await reads.get('k')).toBe(`of ${name}`)
          expect((await reads.json.get('k')).text()).toBe(JSON.stringify(`of ${name}`))
          await keeping(reads, () => reads.json.get('k'))
        })
      }
      await server.plain('SET', 'globex:k', 'new')
      tenant.run('globex', () => reads.forget('k'))
      expect(await tenant.run('globex', () => reads.get('k'))).toBe('new')
      expect(await tenant.run('acme', () => reads.get('k'))).toBe('of acme')
    })

    it('joins reads of one tenant alone', async () => {
      const { reads } = await opened(store)
      const all = ['acme', 'globex', 'acme', 'globex'].map((name) =>
        tenant.run(name, () => reads.get('k')),
      )
      expect(await Promise.all(all)).toEqual(['of acme', 'of globex', 'of acme', 'of globex'])
      expect(reads.stats().joined).toBe(2)
    })

    it('asks within other namespaces, too', async () => {
      const { reads } = await opened(['a', () => tenant.getStore() ?? 'none'])
      expect(await reads.get('k')).toBeNull()
      await keeping(reads, () => reads.get('k'))
      expect(await tenant.run('b', () => reads.get('k'))).toBe('of a:b')
    })

    it("fails with the namespace's own error outside of a request", async () => {
      const { reads } = await opened(store)
      for (const by of [reads, reads.json]) {
        expect(await failure(by.get('k'))).toMatchObject({ message: 'outside of a request' })
      }
      expect(() => reads.forget('k')).toThrow('outside of a request')
      expect(await failure(tenant.run('', () => reads.get('k')))).toBeInstanceOf(InvalidArgument)
      expect(await tenant.run('acme', () => reads.get('k'))).toBe('of acme')
    })
  },
)

describe.skipIf(!hasServer)('what cannot be sent', () => {
  /** What a program's end would be. */
  function unhandled(): unknown[] {
    const all: unknown[] = []
    const note = (error: unknown) => all.push(error)
    process.on('unhandledRejection', note)
    onTestFinished(() => {
      process.off('unhandledRejection', note)
    })
    return all
  }

  it.each<[keyof typeof clients, [string, ...unknown[]][]]>([
    [
      'ioredis',
      [
        ['eval_ro', 'return 1', 'x', 'k'],
        ['call', 'JSON.GET', 'k'],
        ['zunion', 'x', 'a'],
      ],
    ],
    [
      'node-redis',
      [
        ['get', undefined],
        ['get', 5],
        ['hGet', 'h'],
        ['sendCommand', ['JSON.GET', 'k']],
      ],
    ],
  ])("fails with the view's own error, once, of %s", async (how, calls) => {
    const server = await ownServer()
    const client = await (clients[how] as Any)(server.port)
    const view = namespaced(client, { namespace: 'app' }) as Any
    const reads = open(view, { prefix: 'own' }) as Any
    const all = unhandled()
    for (const [method, ...given] of calls) {
      const expected = (await failure(view[method](...given))) as Error
      expect(expected).toBeInstanceOf(Error)
      for (const by of [reads, reads.json]) {
        const failed = (await failure(by[method](...given))) as Error
        expect([failed.name, failed.message]).toEqual([expected.name, expected.message])
      }
    }
    await new Promise((done) => setImmediate(done))
    expect(all).toEqual([])
  })

  it("fails with node-redis' own error", async () => {
    const server = await ownServer()
    const client = (await nodeRedis(server.port)) as Any
    const reads = open(client, { prefix: 'own' }) as Any
    for (const [method, ...given] of [
      ['get', undefined],
      ['get', 5],
      ['hGet', 'h'],
    ] as const) {
      const expected = (await failure(client[method](...given))) as Error
      expect(expected).toBeInstanceOf(TypeError)
      const failed = (await failure(reads[method](...given))) as Error
      expect([failed.name, failed.message]).toEqual([expected.name, expected.message])
    }
    expect(await reads.get('k')).toBeNull()
  })
})

describe.skipIf(!hasServer)('bytes that their owner changes', () => {
  const by = {
    ioredis: async (port: number) => [connected(port), (key: Buffer) => ['get', key]],
    'ioredis call': async (port: number) => [
      connected(port),
      (key: Buffer) => ['call', 'GET', key],
    ],
    'node-redis': async (port: number) => [await nodeRedis(port), (key: Buffer) => ['get', key]],
    'node-redis sendCommand': async (port: number) => [
      await nodeRedis(port),
      (key: Buffer) => ['sendCommand', ['GET', key]],
    ],
  }

  it.each(Object.entries(by))('are sent as they were given, by %s', async (_, connect) => {
    const server = await ownServer()
    await server.plain('MSET', 'k1', 'one', 'k2', 'two')
    const [client, callOf] = (await connect(server.port)) as [Any, (key: Buffer) => Any[]]
    const reads = open(client) as Any
    const key = Buffer.from('k1')
    // The first one waits until the server is known.
    for (let turn = 0; turn < 2; turn++) {
      key.write('k1')
      const [method, ...given] = callOf(key)
      const asked = reads[method](...given)
      key.write('k2')
      expect(await asked).toBe('one')
      await keeping(reads, () => reads.get('k1'))
      reads.forget('k1')
    }
  })
})

describe.skipIf(!hasServer)('a reply that has no bytes', () => {
  it('is handed out, and nobody waits for its read', async () => {
    const server = await ownServer()
    await server.plain('HSET', 'h', '__proto__', 'x')
    const bytes = ((await nodeRedis(server.port)) as Any).withTypeMapping({ 36: Buffer })
    const given = options({ path: folder(), limit: '16MiB', maxStaleness: '10s' })
    const reads = open(bytes, given) as Any
    const other = open(bytes, given) as Any
    for (const one of [reads, other]) await keeping(one, () => one.exists('h'))
    const expected = await bytes.hGetAll('h')
    for (const one of [reads, other, reads]) {
      expect(Object.getPrototypeOf(await one.hGetAll('h'))).toEqual(Object.getPrototypeOf(expected))
      expect(one.stats().uncached.busy).toBe(0)
    }
  })
})

describe.skipIf(!hasServer)('arguments of ioredis', () => {
  class Id {
    readonly #id: string
    constructor(id: string) {
      this.#id = id
    }
    toString(): string {
      return this.#id
    }
  }

  const withText = (text: string) => ({ toString: () => text })

  it.each<[string, unknown, unknown]>([
    ['URL', new URL('x:a'), new URL('x:b')],
    ['Date', new Date(0), new Date(86_400_000)],
    ['a private field', new Id('x:a'), new Id('x:b')],
    ['toString', withText('x:a'), withText('x:b')],
    ['bytes', Buffer.from('a'), new Uint8Array([97])],
    ['lists', [new Id('x:a')], [new Id('x:b')]],
  ])('are told apart as they are sent: %s', async (_, first, second) => {
    const server = await ownServer()
    const client = connected(server.port) as Any
    await client.mset(first, 'first', second, 'second')
    const reads = open(client, { maxStaleness: '10s' }) as Any
    for (const [key, value] of [
      [first, 'first'],
      [second, 'second'],
    ]) {
      await keeping(reads, () => reads.get(key))
      expect(await reads.get(key)).toBe(value)
      await keeping(reads, () => reads.json.get(key))
      expect((await reads.json.get(key)).text()).toBe(JSON.stringify(value))
    }
    expect(await Promise.all([reads.get(second), reads.get(first)])).toEqual(['second', 'first'])
  })
})
