import { InvalidArgument } from '../errors.ts'
import { CommandNotAllowed } from '../more-errors.ts'
import { define, type Members } from './forward.ts'
import {
  AS_BYTES,
  alias,
  become,
  before,
  type CommandOptions,
  emulated,
  type NodeRedis,
  type Parser,
  type Queued,
  refuseKeyPrefix,
  rename,
  type Transform,
} from './node-redis.ts'
import { Listeners } from './node-redis-listeners.ts'
import type { Servers } from './scope.ts'
import { type NamespaceOptions, Session, type TakeOff } from './session.ts'
import { layered, viewOf } from './views.ts'
import type { Word } from './word.ts'

type Execute = (node: NodeRedis, options: CommandOptions | undefined) => Promise<unknown>
type Batched = CommandOptions & { readonly slotNumber?: number; readonly chainId?: symbol }

/** What is used of node-redis' RedisCluster, from 6.3 on: it sends to all primaries what concerns them all. */
export interface NodeRedisCluster extends Members {
  readonly _self: NodeRedisCluster & { readonly _options: { keyPrefix?: unknown } }
  readonly _commandOptions?: CommandOptions
  readonly masters: unknown[]
  readonly Multi: new (...given: unknown[]) => unknown
  nodeClient(node: unknown): NodeRedis | Promise<NodeRedis>
  duplicate(overrides?: unknown): NodeRedisCluster
  sendCommand(firstKey: Word | undefined, isReadonly: boolean, words: Word[]): Promise<unknown>
  _execute(
    parser: { readonly firstKey: Word | undefined },
    isReadonly: boolean | undefined,
    options: CommandOptions | undefined,
    execute: Execute,
  ): Promise<unknown>
  _executeWithPolicies(
    parser: Parser,
    isReadonly: boolean | undefined,
    options: CommandOptions | undefined,
    make: (parser: Parser) => Execute,
  ): Promise<unknown>
}

export function isNodeRedisCluster(client: object): client is NodeRedisCluster {
  return '_slots' in client && 'nodeByAddress' in client
}

/** A view of a cluster, on the same connections, that knows one namespace's keys. */
export function nodeRedisClusterView(
  client: NodeRedisCluster,
  options: NamespaceOptions,
): NodeRedisCluster {
  if (!('_executeWithPolicies' in client)) {
    throw new InvalidArgument(
      'a cluster of this node-redis asks one node where all should be asked (KEYS, SCAN); ' +
        'take redis 6.3 or later',
    )
  }
  refuseKeyPrefix(client._self._options)
  const session = new Session(options)
  const { view, layer } = layered(client)
  become(layer, view, client, '_executeWithPolicies')

  define(
    layer,
    '_executeWithPolicies',
    async (
      parser: Parser,
      isReadonly: boolean | undefined,
      given: CommandOptions | undefined,
      make: (parser: Parser) => Execute,
    ): Promise<unknown> => {
      const words = parser.redisArgs
      const found = session.find(words[0], words[1])
      if (found.emulated) return emulated(session, found, servers(client), given)
      if (found.transactional) throw byItself(found.name)
      const takeOff = session.put(found, words)
      // By the first of these the node is found.
      parser.keys.forEach(rename(session, parser.keys))
      // A redirected command is sent again, with the words that it has now.
      return client._executeWithPolicies(parser, isReadonly, given, (one) => {
        const execute = make(one)
        return (node, how) => execute(freeing(node, takeOff), how)
      })
    },
  )

  // It goes the same way, of the view.
  define(layer, 'sendCommand', client.sendCommand)

  define(layer, 'MULTI', function (this: NodeRedisCluster, routing?: Word): unknown {
    const batch =
      (method: '_executeMulti' | '_executePipeline') =>
      async (firstKey: Word | undefined, isReadonly: boolean | undefined, commands: Queued[]) => {
        const takeOffs: TakeOff[] = []
        const prefixed = commands.map((command) => {
          const args = [...command.args]
          takeOffs.push(session.rewrite(args))
          return { ...command, args }
        })
        const parser = {
          firstKey: firstKey === undefined ? undefined : session.prefix.key(firstKey),
        }
        const replies = (await client._execute(parser, isReadonly, undefined, (node, how) => {
          const { slotNumber, chainId } = (how ?? {}) as Batched
          return node[method](prefixed, undefined, slotNumber, chainId)
        })) as unknown[]
        return replies.map((reply, at) => takeOffs[at](reply))
      }
    return new client.Multi(
      batch('_executeMulti'),
      batch('_executePipeline'),
      routing,
      this._commandOptions?.typeMapping,
    )
  })
  alias(layer, ['multi'], (view as Members).MULTI)
  new Listeners(client, session).give(layer, view)
  define(layer, 'duplicate', (overrides?: unknown) =>
    nodeRedisClusterView(client.duplicate(overrides), options),
  )
  return viewOf(view, client, options)
}

/** A node that takes the prefixes off before what the command does with its reply. */
function freeing(node: NodeRedis, takeOff: TakeOff): NodeRedis {
  const freeing = Object.create(node) as NodeRedis
  define(
    freeing,
    '_executeCommand',
    (command: unknown, parser: Parser, how: CommandOptions, transform: Transform | undefined) =>
      node._executeCommand(command, parser, how, before(transform, takeOff)),
  )
  define(freeing, '_executeScript', (...given: unknown[]) =>
    (node._executeScript as (...given: unknown[]) => unknown).apply(node, given),
  )
  define(freeing, 'sendCommand', async (words: Word[], how?: CommandOptions) =>
    takeOff(await node.sendCommand(words, how)),
  )
  return freeing
}

function servers(client: NodeRedisCluster): Servers {
  return {
    all: () =>
      client.masters.map((master) => async (words) => {
        const node = await client.nodeClient(master)
        return node.sendCommand(words, AS_BYTES)
      }),
    unlink: (keys) =>
      Promise.all(keys.map((key) => client.sendCommand(key, false, ['UNLINK', key]))),
  }
}

function byItself(name: string): CommandNotAllowed {
  return new CommandNotAllowed(`${name} by itself goes to any node of the cluster; use multi()`)
}
