/** Clients of Redis with what all of them can do, so that one test is for all. */
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis-5'
import { createClient } from 'redis'
import { createClient as createClient5 } from 'redis-5'
import { type NamespaceOptions, namespaced, type Word } from '../../src/redis-namespace/index.ts'

export type Told = (
  ...told: [pattern: string | undefined, channel: string, message: string]
) => void

/** A client, and the same things done in each client's way. */
export interface Client {
  call(...words: Word[]): Promise<unknown>
  /** Another on the same connection. */
  namespaced(options: NamespaceOptions): Client
  duplicate(): Promise<Client>
  subscribe(channel: string, told: Told): Promise<unknown>
  psubscribe?(pattern: string, told: Told): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  transaction(...commands: string[][]): Promise<unknown[]>
  pipeline?(...commands: string[][]): Promise<unknown[]>
  scanAll?(options?: { match?: string; count?: number }): Promise<string[]>
  /** Whether it subscribes again after a lost connection. */
  readonly resubscribes?: boolean
  close(): void
}

export const KINDS: Record<string, (port: number) => Promise<Client>> = {
  'ioredis 6': async (port) => ioredis(new Redis({ port, maxRetriesPerRequest: 20 })),
  'ioredis 6, RESP3': async (port) => ioredis(new Redis({ port, protocol: 3 })),
  'ioredis 5': async (port) => ioredis(new Redis5({ port }) as unknown as Redis),
  'node-redis 6': async (port) => nodeRedis(await open(createClient(url(port)) as NodeRedis)),
  'node-redis 6, RESP2': async (port) =>
    nodeRedis(await open(createClient({ ...url(port), RESP: 2 }) as unknown as NodeRedis)),
  'node-redis 5': async (port) =>
    nodeRedis(await open(createClient5(url(port)) as unknown as NodeRedis)),
}

type NodeRedis = ReturnType<typeof createClient>

if (process.versions.bun !== undefined) {
  const { RedisClient } = (globalThis as unknown as { Bun: { RedisClient: BunClass } }).Bun
  KINDS.Bun = async (port) => bun(new RedisClient(`redis://127.0.0.1:${port}`))
}

function url(port: number) {
  return { url: `redis://127.0.0.1:${port}` }
}

async function open(client: NodeRedis): Promise<NodeRedis> {
  client.on('error', () => {})
  return (await client.connect()) as NodeRedis
}

function ioredis(client: Redis): Client {
  client.on('error', () => {})
  return {
    call: (name, ...words) => Promise.resolve(client.call(String(name), ...(words as string[]))),
    namespaced: (options) => ioredis(namespaced(client, options)),
    duplicate: async () => ioredis(client.duplicate()),
    subscribe(channel, told) {
      client.on('message', (from, message) => from === channel && told(undefined, from, message))
      return client.subscribe(channel)
    },
    psubscribe(pattern, told) {
      client.on('pmessage', (by, from, message) => by === pattern && told(by, from, message))
      return client.psubscribe(pattern)
    },
    unsubscribe: (channel) => client.unsubscribe(channel),
    transaction: async (...commands) => unwrap(await client.multi(calls(commands)).exec()),
    pipeline: async (...commands) => unwrap(await client.pipeline(calls(commands)).exec()),
    async scanAll(options = {}) {
      const all: string[] = []
      for await (const keys of client.scanStream(options)) all.push(...keys)
      return all
    },
    close: () => client.disconnect(),
  }
}

function calls(commands: string[][]): string[][] {
  return commands.map((words) => ['call', ...words])
}

function unwrap(replies: [Error | null, unknown][] | null): unknown[] {
  return (replies ?? []).map(([error, reply]) => error ?? reply)
}

function nodeRedis(client: NodeRedis): Client {
  const batch = (commands: string[][]) => {
    const multi = client.multi()
    for (const words of commands) multi.addCommand(words)
    return multi
  }
  return {
    call: (...words) => client.sendCommand(words as string[]),
    namespaced: (options) => nodeRedis(namespaced(client, options)),
    duplicate: async () => nodeRedis(await open(client.duplicate() as NodeRedis)),
    subscribe: (channel, told) =>
      client.subscribe(channel, (message, from) => told(undefined, from, message)),
    psubscribe: (pattern, told) =>
      client.pSubscribe(pattern, (message, from) => told(pattern, from, message)),
    unsubscribe: (channel) => client.unsubscribe(channel),
    transaction: (...commands) => batch(commands).exec() as unknown as Promise<unknown[]>,
    pipeline: (...commands) => batch(commands).execAsPipeline() as unknown as Promise<unknown[]>,
    async scanAll({ match, count } = {}) {
      const all: string[] = []
      for await (const keys of client.scanIterator({
        ...(match && { MATCH: match }),
        ...(count && { COUNT: count }),
      })) {
        all.push(...keys)
      }
      return all
    },
    close: () => client.destroy(),
  }
}

type BunClass = new (url: string) => BunClient
interface BunClient {
  send(name: string, words: Word[]): Promise<unknown>
  duplicate(): Promise<BunClient>
  subscribe(channel: string, told: (message: string, channel: string) => void): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  close(): void
}

function bun(client: BunClient): Client {
  return {
    call: (name, ...words) => client.send(String(name), words),
    namespaced: (options) => bun(namespaced(client, options)),
    duplicate: async () => bun(await client.duplicate()),
    subscribe: (channel, told) =>
      client.subscribe(channel, (message, from) => told(undefined, from, message)),
    unsubscribe: (channel) => client.unsubscribe(channel),
    resubscribes: false,
    async transaction(...commands) {
      const all = [['MULTI'], ...commands, ['EXEC']]
      const replies = await Promise.all(all.map(([name, ...words]) => client.send(name, words)))
      return replies.at(-1) as unknown[]
    },
    close: () => client.close(),
  }
}
