import { InvalidArgument } from '../errors.ts'
import { isBunRedis } from '../redis-namespace/bun.ts'
import { isIoredis } from '../redis-namespace/ioredis.ts'
import { originOf } from '../redis-namespace/views.ts'
import { bunSettings, isServer, type RemoteServer, serverSettings } from './bun.ts'
import { type Ioredis, ioredisSettings } from './ioredis.ts'
import type { RemoteSettings } from './native.ts'
import { clientSettings, clusterSettings, type NodeRedis, sentinelSettings } from './node-redis.ts'

export type { RemoteServer }

/**
 * A client of Redis or Valkey whose settings the remote tier takes over: `Redis` and `Cluster` of ioredis, what
 * `createClient`, `createCluster` and `createSentinel` of node-redis make, and `Bun.redis`.
 */
export type RemoteClient = object

/**
 * What a client was told. Its own connections are neither used nor changed: the native part has others.
 * @throws InvalidArgument
 */
export function settingsOf(client: RemoteClient | RemoteServer): RemoteSettings {
  if (originOf(client) !== undefined) {
    throw new InvalidArgument(
      'remote is the view of a namespace on a client: give the client itself, and the option prefix',
    )
  }
  if (isIoredis(client)) return ioredisSettings(client as unknown as Ioredis)
  if (isBunRedis(client)) return bunSettings(client)
  if (isServer(client)) return serverSettings(client)
  if ('_executeCommand' in client && 'options' in client)
    return clientSettings(client as unknown as NodeRedis)
  if ('nodeByAddress' in client) return clusterSettings(client as unknown as NodeRedis)
  if ('getSentinelNode' in client) return sentinelSettings(client as unknown as NodeRedis)
  throw new InvalidArgument(
    'remote is the URL of a Redis or Valkey, a Redis or Cluster of ioredis, a client, Cluster or Sentinel of node-redis, ' +
      'Bun.redis, or { url, tls }',
  )
}
