import type { Writable } from 'node:stream'
import { InvalidArgument } from '../errors.ts'
import { define, type Members } from '../redis-namespace/forward.ts'
import type { Ioredis, IoredisCommand } from '../redis-namespace/ioredis.ts'
import { isIoredis } from '../redis-namespace/ioredis.ts'
import { namespaced } from '../redis-namespace/namespaced.ts'
import { become, isNodeRedis, type NodeRedis, type Parser } from '../redis-namespace/node-redis.ts'
import { layered, originOf } from '../redis-namespace/views.ts'
import type { Word } from '../redis-namespace/word.ts'

/** A command that a client has made, and not sent. */
export interface Prepared {
  readonly words: readonly Word[]
  /** Sends it; the reply is in the client's shape. */
  send(): Promise<unknown>
}

/** How a client makes and sends commands. */
export interface Way {
  /** What other clients' replies are told from. */
  readonly shape: string
  /** The client that has the connection. */
  readonly client: object
  /** Changes when the connection is another one, or another database was chosen. */
  epoch(): unknown
  /** The command that a method makes. */
  prepare(method: string, given: readonly unknown[]): Prepared
  /** Sends a command whose keys have their prefixes. */
  send(words: readonly Word[]): Promise<unknown>
  /** What is sent meanwhile goes to the server in one piece. */
  together<T>(sends: () => T): T
}

type Method = (...given: readonly unknown[]) => unknown

/** @throws InvalidArgument for a client whose replies cannot be cached, with the reason */
export function wayOf(client: object): Way {
  const origin = originOf(client)
  const inner = origin?.client ?? client
  if (isIoredis(inner))
    return ioredisWay(inner, (view) => (origin ? namespaced(view, origin.options) : view))
  if (isNodeRedis(inner)) {
    return nodeRedisWay(inner, client, (view) => (origin ? namespaced(view, origin.options) : view))
  }
  throw new InvalidArgument(
    'cached takes a Redis of ioredis or a client of node-redis, or a namespace of one of them; no Cluster, pool or ' +
      "Sentinel client of node-redis, and not Bun's RedisClient: their connections do not show which server has answered",
  )
}

/** Asks a view for the command that a method makes. */
function captured(view: Members, method: string, given: readonly unknown[]): unknown {
  if (given.some((one) => typeof one === 'function')) {
    throw new InvalidArgument('cached reads return promises, and take no callbacks')
  }
  return (view[method] as Method).apply(view, given as unknown[])
}

function ioredisWay(client: Ioredis, namespacedAs: (view: Ioredis) => Ioredis): Way {
  if (client.isCluster) {
    throw new InvalidArgument('cached takes no Cluster of ioredis yet: its replicas may answer')
  }
  let made: IoredisCommand | undefined
  const { view, layer } = layered(client)
  define(layer, 'sendCommand', (command: IoredisCommand) => {
    made = command
    return command.promise
  })
  define(
    layer,
    'options',
    Object.create(client.options, { enableAutoPipelining: { value: false } }),
  )
  const makes = namespacedAs(view) as unknown as Members
  const prepare = (method: string, given: readonly unknown[]): Prepared => {
    made = undefined
    captured(makes, method, given)
    const command = made as IoredisCommand | undefined
    if (command === undefined) throw new InvalidArgument(`${method} sends no command`)
    return {
      words: [command.name, ...command.args],
      send: () => {
        client.sendCommand(command)
        return command.promise
      },
    }
  }
  captured(view as unknown as Members, 'get', [''])
  // Which ioredis does not show on its clients.
  const Command = (made as unknown as IoredisCommand).constructor as new (
    name: string,
    args: readonly Word[],
    options: object,
  ) => IoredisCommand
  const condition = client as unknown as { condition?: { select?: number } | null }
  return {
    shape: `ioredis ${String(client.options.protocol ?? 2)} ${String(client.options.stringNumbers ?? false)}`,
    client,
    epoch: () => `${client.connectionEpoch} ${condition.condition?.select ?? ''}`,
    prepare,
    send: ([name, ...args]) => {
      const command = new Command(String(name), args, { replyEncoding: 'utf8' })
      client.sendCommand(command)
      return command.promise
    },
    together: (sends) => {
      // Each write would wake the server, and be answered, by itself. Absent while there is no connection.
      const { stream } = client as unknown as { stream?: Writable | null }
      stream?.cork()
      try {
        return sends()
      } finally {
        stream?.uncork()
      }
    },
  }
}

function nodeRedisWay(
  client: NodeRedis,
  given: object,
  namespacedAs: (view: NodeRedis) => NodeRedis,
): Way {
  if (client.clientSideCache) {
    throw new InvalidArgument(
      'the client has a cache of its own (clientSideCache), which hears of writes in its own time: make it without one',
    )
  }
  let made: Prepared | undefined
  const { view, layer } = layered(client)
  become(layer, view, client, '_executeCommand')
  const asked = (given as NodeRedis)._commandOptions
  define(
    layer,
    '_executeCommand',
    (command: unknown, parser: Parser, _: unknown, transform: undefined) => {
      made = {
        words: parser.redisArgs,
        send: () => client._executeCommand(command, parser, asked, transform),
      }
      return Promise.resolve()
    },
  )
  const makes = namespacedAs(view) as unknown as Members
  const own = client as unknown as { options?: { RESP?: number }; _self: { _selectedDB?: number } }
  const mapping = asked?.typeMapping as Record<string, { name?: string }> | undefined
  const types = Object.entries(mapping ?? {}).map(([type, maker]) => `${type}${maker?.name}`)
  return {
    shape: `node-redis ${own.options?.RESP ?? ''} ${types.join()}`,
    client,
    epoch: () => `${client.socketEpoch}`,
    prepare: (method, words) => {
      made = undefined
      const [outer, inner] = method.split('.')
      const on = inner === undefined ? makes : (makes[outer] as Members)
      const answered = captured(on, inner ?? outer, words) as Promise<unknown> | undefined
      // What the view answers is no reply, so its shape may be wrong.
      answered?.catch(() => {})
      if (made === undefined) throw new InvalidArgument(`${method} sends no command`)
      return made
    },
    send: (words) => client.sendCommand(words),
    // The client itself gathers what is sent.
    together: (sends) => sends(),
  }
}
