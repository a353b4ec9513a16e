import { InvalidArgument } from '../errors.ts'
import { define, type Members } from '../redis-namespace/forward.ts'
import {
  become,
  type CommandOptions,
  type NodeRedis,
  type Parser,
  refuseKeyPrefix,
} from '../redis-namespace/node-redis.ts'
import type { NodeRedisCluster } from '../redis-namespace/node-redis-cluster.ts'
import { layered } from '../redis-namespace/views.ts'
import { captured, own, refused } from './captured.ts'
import { nodeRedisShape } from './shapes.ts'
import type { Line, Prepared, Way } from './ways.ts'

type Execute = (node: NodeRedis, options: CommandOptions | undefined) => Promise<unknown>

/** A command as the cluster's methods make it. */
interface Call {
  readonly parser: Parser
  readonly isReadonly: boolean | undefined
  readonly make: (parser: Parser) => Execute
}

/** What is used of node-redis' RedisCluster besides. */
interface Cluster extends NodeRedisCluster {
  readonly _self: NodeRedisCluster['_self'] & {
    readonly _options: {
      readonly RESP?: number
      readonly useReplicas?: boolean
      readonly clientSideCache?: unknown
      readonly keyPrefix?: unknown
    }
  }
  readonly slots: readonly ({ readonly master: unknown } | undefined)[]
}

/** Answers that the cluster follows, as its `_execute` does. */
const FOLLOWED = /^(MOVED|ASK)/

/** @throws InvalidArgument for a cluster whose replies cannot be cached, with the reason */
export function nodeRedisClusterWay(
  client: NodeRedisCluster,
  given: object,
  namespacedAs: (view: NodeRedisCluster) => NodeRedisCluster,
): Way {
  const cluster = client as Cluster
  check(cluster)
  const asked = (given as NodeRedisCluster)._commandOptions
  const calls = new WeakMap<Prepared, Call>()
  const makes = maker(cluster, namespacedAs)
  return {
    shape: nodeRedisShape(cluster._self._options.RESP, asked),
    client,
    // Of what goes by the cluster nobody knows which connection it took; nothing of that is kept.
    epoch: () => '',
    prepare: (method, words) => {
      const call = makes(method, words)
      if (!('make' in call)) return call
      const { parser, isReadonly, make } = call
      const prepared: Prepared = {
        words: [...own(parser.redisArgs)],
        send: () => cluster._executeWithPolicies(parser, isReadonly, asked, make),
      }
      calls.set(prepared, call)
      return prepared
    },
    send: (words) => cluster.sendCommand(words[1], false, [...words]),
    together: (sends) => sends(),
    lineTo: async (slot) => {
      const owner = cluster.slots[slot]?.master
      if (owner === undefined) return undefined
      const node = await cluster.nodeClient(owner)
      return lineTo(node, asked, (prepared) => calls.get(prepared) as Call)
    },
  }
}

/** @throws InvalidArgument */
function check(cluster: Cluster): void {
  if (!('_executeWithPolicies' in cluster)) {
    throw new InvalidArgument(
      'cached takes a cluster of node-redis from redis 6.3 on: earlier ones do not tell which node answers',
    )
  }
  const { useReplicas, clientSideCache } = cluster._self._options
  refuseKeyPrefix(cluster._self._options)
  if (useReplicas) {
    throw new InvalidArgument(
      'cached takes a cluster of node-redis without useReplicas: replicas answer with what is older',
    )
  }
  if (clientSideCache) {
    throw new InvalidArgument(
      'the cluster has a cache of its own (clientSideCache), which hears of writes in its own time: make it without one',
    )
  }
}

/** Gives the calls that a cluster's methods make. */
function maker(
  client: Cluster,
  namespacedAs: (view: NodeRedisCluster) => NodeRedisCluster,
): (method: string, given: readonly unknown[]) => Call | Prepared {
  let last: Call | undefined
  const { view, layer } = layered<NodeRedisCluster>(client)
  become(layer, view, client, '_executeWithPolicies')
  define(
    layer,
    '_executeWithPolicies',
    (parser: Parser, isReadonly: boolean | undefined, _: unknown, make: Call['make']) => {
      last = { parser, isReadonly, make }
      return Promise.resolve()
    },
  )
  const makes = namespacedAs(view) as unknown as Members
  return (method, given) => {
    last = undefined
    const [outer, inner] = method.split('.')
    const on = inner === undefined ? makes : (makes[outer] as Members)
    const answered = captured(on, inner ?? outer, given) as Promise<unknown> | undefined
    // What the view answers is no reply, so its shape may be wrong.
    answered?.catch(() => {})
    return last ?? refused(method, answered)
  }
}

/** The connection to a node, for one read. */
function lineTo(
  node: NodeRedis,
  asked: CommandOptions | undefined,
  callOf: (prepared: Prepared) => Call,
): Line {
  let isElsewhere = false
  return {
    epoch: () => (isElsewhere ? undefined : node.socketEpoch),
    send: (words) => node.sendCommand(words),
    // The client itself gathers what is sent.
    together: (sends) => sends(),
    read: async (prepared) => {
      const { parser, make } = callOf(prepared)
      try {
        return await make(parser)(node, asked)
      } catch (error) {
        if (!FOLLOWED.test((error as Error).message)) throw error
        isElsewhere = true
        return prepared.send()
      }
    },
  }
}
