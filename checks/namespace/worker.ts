/**
 * Does the work of run.py in TypeScript: the same commands through a namespaced client and, without
 * a namespace, on the model's database.
 */
import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { namespaced } from '../../typescript/src/redis-namespace/index.ts'

interface Step {
  who: number
  alone?: string[]
  batch?: string[][]
  /** Sent one by one. */
  lines?: string[][]
  /** RESET is among them, which chooses the first database. */
  reset?: boolean
  /** The connection is lost, with what the server knows of it. */
  lost?: boolean
}

/** Sends commands together and gives what each of them gave, errors too. */
interface Client {
  sent(commands: string[][]): Promise<unknown[]>
  close(): void
  namespaced(namespace: string): Client
}

const SHOWN = 10
const require = createRequire(new URL('../../typescript/package.json', import.meta.url))

const CLIENTS: Record<string, (port: number, db: number) => Promise<Client>> = {
  ioredis: async (port, db) => {
    const { Redis } = require('ioredis')
    return ioredis(quiet(new Redis({ port, db })))
  },
  'node-redis': async (port, db) => {
    const { createClient } = require('redis')
    const client = createClient({ url: `redis://127.0.0.1:${port}/${db}` })
    return nodeRedis(await quiet(client).connect())
  },
  bun: async (port, db) => bun(new Bun.RedisClient(`redis://127.0.0.1:${port}/${db}`)),
}

/** A lost connection is an event; without a listener it would end the process. */
function quiet<C extends { on(event: 'error', listener: () => void): unknown }>(client: C): C {
  client.on('error', () => {})
  return client
}

// biome-ignore lint/suspicious/noExplicitAny: loaded at run time
function ioredis(client: any): Client {
  return {
    namespaced: (namespace) => ioredis(namespaced(client, { namespace })),
    close: () => client.disconnect(),
    async sent(commands) {
      if (commands.length === 1) return [await client.call(...commands[0])]
      const replies = await client.pipeline(commands.map((words) => ['call', ...words])).exec()
      return replies.map(([error, reply]: [unknown, unknown]) => error ?? reply)
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: loaded at run time
function nodeRedis(client: any): Client {
  return {
    namespaced: (namespace) => nodeRedis(namespaced(client, { namespace })),
    close: () => client.destroy(),
    async sent(commands) {
      const all = await Promise.allSettled(commands.map((words) => client.sendCommand(words)))
      return all.map((one) => (one.status === 'fulfilled' ? one.value : one.reason))
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: its types are Bun's
declare const Bun: any

// biome-ignore lint/suspicious/noExplicitAny: its types are Bun's
function bun(client: any): Client {
  return {
    namespaced: (namespace) => bun(namespaced(client, { namespace })),
    close: () => client.close(),
    async sent(commands) {
      const all = await Promise.allSettled(
        commands.map(([name, ...words]) => client.send(name, words)),
      )
      return all.map((one) => (one.status === 'fulfilled' ? one.value : one.reason))
    },
  }
}

/**
 * What a server answers in any order, in one order; and errors by their text, in which a server may
 * name the key as it knows it.
 */
function canonical(reply: unknown, prefix: string): unknown {
  if (reply instanceof Error) return `error: ${reply.message.replace(`'${prefix}`, "'")}`
  if (Array.isArray(reply)) {
    const all = reply.map((one) => canonical(one, prefix))
    return all.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  }
  if (typeof reply === 'object' && reply !== null) return canonical(Object.entries(reply), prefix)
  return typeof reply === 'bigint' ? String(reply) : reply
}

async function done(
  client: Client,
  step: Step,
  batch: string[][],
  port: string,
  database: number,
): Promise<unknown[]> {
  const called = async (words: string[]) =>
    (await client.sent([words]).catch((error) => [error]))[0]
  if (step.lines === undefined) return client.sent(batch).catch((error) => [error])
  const id = step.lost ? await called(['CLIENT', 'ID']) : undefined
  const replies: unknown[] = []
  for (const words of batch) replies.push(await called(words))
  if (step.lost) {
    const killer = await connect(Number(port), 0)
    await killer.sent([['CLIENT', 'KILL', 'ID', String(id)]])
    killer.close()
    await called(['EXEC'])
    // Some clients refuse commands until they are connected again.
    while (String(await called(['PING'])) !== 'PONG') await sleep(5)
  }
  if (step.reset) await called(['SELECT', String(database)])
  return replies
}

const [kind, work, shared, models, first, ...namespaces] = process.argv.slice(2)
const connect = CLIENTS[kind]
// Each has its own connection, because watched keys belong to a connection.
const keyspaces = await Promise.all(
  [...namespaces, undefined].map(async (name) => {
    const client = await connect(Number(shared), 0)
    return name === undefined ? client : client.namespaced(name)
  }),
)
const model = await Promise.all(
  keyspaces.map((_, at) => connect(Number(models), Number(first) + at)),
)

const mismatches: string[] = []
let commands = 0
for await (const line of createInterface({ input: createReadStream(work) })) {
  const step = JSON.parse(line) as Step
  const batch = step.batch ?? step.lines ?? [step.alone ?? []]
  commands += batch.length
  const [is, should] = await Promise.all(
    [keyspaces[step.who], model[step.who]].map(async (client, at) => {
      const prefix = at === 0 && step.who < namespaces.length ? `${namespaces[step.who]}:` : ''
      const database = at === 0 ? 0 : Number(first) + step.who
      const replies = await done(client, step, batch, at === 0 ? shared : models, database)
      return replies.map((reply) => JSON.stringify(canonical(reply, prefix)))
    }),
  )
  const wrong = is.findIndex((one, at) => one !== should[at])
  if (wrong < 0 && is.length === should.length) continue
  const differ = `${JSON.stringify(batch[wrong])}: ${is[wrong]} is not ${should[wrong]}`
  mismatches.push(`${kind}: ${differ}`)
}
console.log(JSON.stringify({ commands, mismatches: mismatches.slice(0, SHOWN) }))
process.exit()
