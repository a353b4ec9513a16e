/** The settings of clients of the package ioredis, 5 and 6. */
import { at, type Located, located } from './address.ts'
import type { RemoteAddress, RemoteSettings, RemoteTls } from './native.ts'
import { refused } from './refused.ts'
import { type TlsOptions, tlsOf } from './tls.ts'

interface RedisOptions {
  readonly host?: string
  readonly port?: number | string
  readonly path?: string | null
  readonly username?: string | null
  readonly password?: string | null
  readonly db?: number
  readonly tls?: TlsOptions | true | null
  readonly keyPrefix?: string
  readonly Connector?: unknown
  readonly natMap?: unknown
  readonly sentinels?: readonly { host?: string; port?: number }[] | null
  readonly name?: string | null
  readonly role?: string
  readonly sentinelUsername?: string | null
  readonly sentinelPassword?: string | null
  readonly sentinelTLS?: TlsOptions
  readonly enableTLSForSentinelMode?: boolean
}

interface ClusterOptions {
  readonly redisOptions?: RedisOptions
  readonly keyPrefix?: string
  readonly natMap?: unknown
  readonly useSRVRecords?: boolean
}

/** A `Redis` of ioredis. */
export interface Ioredis {
  readonly isCluster: boolean
  readonly options: RedisOptions
}

interface Cluster {
  readonly options: ClusterOptions
  readonly startupNodes: readonly (string | number | { host?: string; port?: number })[]
}

/** @throws InvalidArgument */
export function ioredisSettings(client: Ioredis): RemoteSettings {
  return client.isCluster
    ? clusterSettings(client as unknown as Cluster)
    : redisSettings(client.options)
}

function redisSettings(options: RedisOptions): RemoteSettings {
  if (options.keyPrefix) throw refused('keyPrefix (the option prefix is for that)')
  if (options.Connector !== undefined) throw refused('Connector')
  if (options.sentinels) return sentinelSettings(options, options.sentinels)
  const { path, host, port } = options
  const address: RemoteAddress = path ? { path } : at(host, port)
  return { addresses: [address], cluster: false, ...rights(options), ...encrypted(options.tls) }
}

function sentinelSettings(
  options: RedisOptions,
  sentinels: NonNullable<RedisOptions['sentinels']>,
): RemoteSettings {
  const { natMap, role, name, sentinelTLS, sentinelUsername, sentinelPassword } = options
  if (natMap) throw refused('natMap')
  if (role !== undefined && role !== 'master') throw refused('role other than master')
  if (!name) throw refused('sentinels without a name')
  // ioredis does not encrypt connections to what Sentinels name unless it is told twice.
  const tls = encrypted(options.enableTLSForSentinelMode ? options.tls : undefined)
  if (sentinelTLS !== undefined && !isSame(tlsOf(sentinelTLS), tls.tls)) {
    throw refused('sentinelTLS other than its tls')
  }
  return {
    addresses: sentinels.map(({ host, port }) => at(host, port ?? 26379)),
    cluster: false,
    sentinel: {
      name,
      ...(sentinelUsername && { username: sentinelUsername }),
      ...(sentinelPassword && { password: sentinelPassword }),
      tls: sentinelTLS !== undefined,
    },
    ...rights(options),
    ...tls,
  }
}

function clusterSettings({ options, startupNodes }: Cluster): RemoteSettings {
  const { redisOptions = {}, keyPrefix } = options
  if (keyPrefix || redisOptions.keyPrefix) {
    throw refused('keyPrefix (the option prefix is for that)')
  }
  if (options.natMap) throw refused('natMap')
  if (options.useSRVRecords) throw refused('useSRVRecords')
  // Its `dnsLookup` is not used: names are looked up by the system.
  const nodes = startupNodes.map(nodeOf)
  const [first] = nodes
  return {
    addresses: nodes.map(({ address }) => address),
    cluster: true,
    ...rights({
      username: redisOptions.username ?? first?.username ?? null,
      password: redisOptions.password ?? first?.password ?? null,
    }),
    ...encrypted(redisOptions.tls ?? (first?.encrypted ? true : undefined)),
  }
}

function nodeOf(node: Cluster['startupNodes'][number]): Located {
  if (typeof node === 'string') return located(node.includes('://') ? node : `redis://${node}`)
  const address = typeof node === 'number' ? at('127.0.0.1', node) : at(node.host, node.port)
  return { address, username: undefined, password: undefined, encrypted: false }
}

function rights({
  username,
  password,
  db,
}: Pick<RedisOptions, 'username' | 'password' | 'db'>): Pick<
  RemoteSettings,
  'username' | 'password' | 'database'
> {
  return {
    ...(username && { username }),
    ...(password && { password }),
    database: Number(db ?? 0),
  }
}

function encrypted(tls: RedisOptions['tls']): { tls?: RemoteTls } {
  return tls ? { tls: tlsOf(tls) } : {}
}

function isSame(one: RemoteTls, other: RemoteTls | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
