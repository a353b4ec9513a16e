import { InvalidArgument } from '../errors.ts'
import { isBunRedis } from '../redis-namespace/bun.ts'
import { define, type Members } from '../redis-namespace/forward.ts'
import { type Ioredis, type IoredisCommand, isIoredis } from '../redis-namespace/ioredis.ts'
import { namespaced } from '../redis-namespace/namespaced.ts'
import { become, isNodeRedis, type NodeRedis, type Parser } from '../redis-namespace/node-redis.ts'
import { isNodeRedisCluster } from '../redis-namespace/node-redis-cluster.ts'
import { changingPrefix } from '../redis-namespace/session.ts'
import { layered, type Origin, originOf } from '../redis-namespace/views.ts'
import type { Word } from '../redis-namespace/word.ts'
import { bunWay } from './bun.ts'
import { captured, own, refused } from './captured.ts'
import { corked } from './corked.ts'
import { ioredisClusterWay } from './ioredis-cluster.ts'
import { type IoredisMaker, ioredisMaker } from './ioredis-maker.ts'
import { nodeRedisClusterWay } from './node-redis-cluster.ts'
import { ioredisShape, nodeRedisShape } from './shapes.ts'

/** A command that a client has made, and not sent. */
export interface Prepared {
  readonly words: readonly Word[]
  /** Whether replies of this command are made into something else. */
  readonly isTransformed?: boolean
  /** What its replies are told from besides the client's shape. */
  readonly shape?: string
  /** Fails with the reason why there is no such command. */
  readonly why?: Promise<never>
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
  /** As of a `Line`. */
  readonly provesBefore?: boolean
  /** Whether the client's `sendCommand` takes the words of any command, as node-redis' does. */
  readonly sendsWords?: boolean
  /** Of a namespace that a function gives: what tells that of this moment from others. */
  space?(): string
  /** The command that a method makes. */
  prepare(method: string, given: readonly unknown[]): Prepared
  /** Sends a command whose keys have their prefixes. */
  send(words: readonly Word[]): Promise<unknown>
  /** Of a Cluster: the connection to the primary of a slot, for one read; undefined while there is none. */
  lineTo?(slot: number): Line | undefined | Promise<Line | undefined>
  /** What is sent meanwhile goes to the server in one piece. */
  together<T>(sends: () => T): T
}

/** A connection to one node of a Cluster. */
export interface Line {
  /** Changes when the connection is another one, or the Cluster read what this node did not. */
  epoch(): unknown
  /** Whether the connection may become another one unnoticed: then the proof is asked for before a read, too. */
  readonly provesBefore?: boolean
  /** Sends a command on it. */
  send(words: readonly Word[]): Promise<unknown>
  /** Sends a prepared command on it; by the Cluster, if the node sends it elsewhere. */
  read(prepared: Prepared): Promise<unknown>
  /** What is sent meanwhile goes to the server in one piece. */
  together<T>(sends: () => T): T
}

/** @throws InvalidArgument for a client whose replies cannot be cached, with the reason */
export function wayOf(client: object): Way {
  const origin = originOf(client)
  const space = origin && changingPrefix(origin.options)
  return { ...wayOfInner(client, origin), ...(space && { space }) }
}

function wayOfInner(client: object, origin: Origin | undefined): Way {
  const inner = origin?.client ?? client
  const as = <C extends object>(view: C): C => (origin ? namespaced(view, origin.options) : view)
  if (isIoredis(inner)) {
    const maker = ioredisMaker(inner, as)
    return inner.isCluster ? ioredisClusterWay(inner, maker) : ioredisWay(inner, maker)
  }
  if (isNodeRedis(inner)) return nodeRedisWay(inner, client, as)
  if (isNodeRedisCluster(inner)) return nodeRedisClusterWay(inner, client, as)
  if (isBunRedis(inner)) return bunWay(inner, as)
  throw new InvalidArgument(
    "cached takes a Redis or Cluster of ioredis, a client or cluster of node-redis, Bun's RedisClient, or a namespace of one " +
      'of them; no pool or Sentinel client of node-redis: their connections do not show which server has answered',
  )
}

function ioredisWay(client: Ioredis, maker: IoredisMaker): Way {
  const condition = client as unknown as { condition?: { select?: number } | null }
  const sent = (command: IoredisCommand): Promise<unknown> => {
    client.sendCommand(command)
    return command.promise
  }
  return {
    shape: ioredisShape(client.options),
    client,
    epoch: () => `${client.connectionEpoch} ${condition.condition?.select ?? ''}`,
    prepare: (method, given) => maker.prepared(method, given, sent),
    send: (words) => sent(maker.command(words)),
    together: (sends) => corked(client, sends),
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
  // The words that are sent have it.
  define(layer, '_keyPrefix', client._keyPrefix)
  const asked = (given as NodeRedis)._commandOptions
  define(
    layer,
    '_executeCommand',
    (command: unknown, parser: Parser, _: unknown, transform: undefined) => {
      made = {
        words: own(parser.redisArgs),
        send: () => client._executeCommand(command, parser, asked, transform),
      }
      return Promise.resolve()
    },
  )
  define(layer, 'sendCommand', (words: readonly Word[]) => {
    const copied = own([...words])
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const send = () => {
      resolve(client.sendCommand(copied, asked))
      return promise
    }
    made = { words: copied, send }
    return promise
  })
  const makes = namespacedAs(view) as unknown as Members
  const settings = client as unknown as {
    options?: { RESP?: number }
    _self: { _selectedDB?: number }
  }
  return {
    shape: nodeRedisShape(settings.options?.RESP, asked),
    client,
    epoch: () => `${client.socketEpoch}`,
    sendsWords: true,
    prepare: (method, words) => {
      made = undefined
      const [outer, inner] = method.split('.')
      const on = inner === undefined ? makes : (makes[outer] as Members)
      const answered = captured(on, inner ?? outer, words) as Promise<unknown> | undefined
      // What the view answers is no reply, so its shape may be wrong.
      answered?.catch(() => {})
      if (made === undefined) return refused(method, answered)
      return method === 'sendCommand' ? answeredBy(made, answered) : made
    },
    send: (words) => client.sendCommand(words),
    // The client itself gathers what is sent.
    together: (sends) => sends(),
  }
}

/** A command whose reply is what the view answers: a namespace takes its prefix off. */
function answeredBy({ words, send }: Prepared, answered: Promise<unknown> | undefined): Prepared {
  return {
    words,
    send: () => {
      const sent = send()
      return answered ?? sent
    },
  }
}
