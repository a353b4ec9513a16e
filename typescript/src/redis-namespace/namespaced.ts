import { InvalidArgument } from '../errors.ts'
import { bunView, isBunRedis } from './bun.ts'
import { ioredisView, isIoredis } from './ioredis.ts'
import { isNodeRedis, isNodeRedisPool, nodeRedisPoolView, nodeRedisView } from './node-redis.ts'
import { isNodeRedisCluster, nodeRedisClusterView } from './node-redis-cluster.ts'
import { checkOptions, type NamespaceOptions, within } from './session.ts'
import { originOf } from './views.ts'

/**
 * A view of a Redis client, with the client's own type. It puts the prefix `namespace:` before every key, pattern and
 * channel that it sends, and takes it off what comes back. It shares the client's connection; the client itself, and
 * other views of it, can be used beside it.
 *
 * An unknown command is refused (UnknownCommand), and so is one that touches the whole server (CommandNotAllowed),
 * unless `allow` names it. A Lua script gets its KEYS rewritten; one that makes up keys has to know the prefix itself.
 * A view of a view has a nested namespace.
 *
 * @param client ioredis' Redis or Cluster, node-redis' client, pool or cluster, or Bun's RedisClient
 * @throws {InvalidArgument} it is none of these, has a prefix of its own, or an option is wrong
 */
export function namespaced<C extends object>(client: C, options: NamespaceOptions): C {
  const outer = originOf(client)
  if (outer !== undefined) {
    checkOptions(options)
    return made(outer.client, within(outer.options, options)) as C
  }
  checkOptions(options)
  return made(client, options) as C
}

function made(client: object, options: NamespaceOptions): object {
  if (isIoredis(client)) return ioredisView(client, options)
  if (isNodeRedis(client)) return nodeRedisView(client, options)
  if (isNodeRedisPool(client)) return nodeRedisPoolView(client, options)
  if (isNodeRedisCluster(client)) return nodeRedisClusterView(client, options)
  if (isBunRedis(client)) return bunView(client, options)
  throw new InvalidArgument(
    "namespaced takes a Redis or Cluster of ioredis, a client, pool or cluster of node-redis, or Bun's " +
      'RedisClient. A Sentinel of node-redis hands its clients out one by one: ask it for the address ' +
      'of the server and namespace a client of that, or take ioredis with its option sentinels',
  )
}
