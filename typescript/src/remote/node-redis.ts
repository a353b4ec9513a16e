/** The settings of clients of the package redis (node-redis), 4 to 6. */
import { at, located } from './address.ts'
import type { RemoteSettings, RemoteTls } from './native.ts'
import { refused } from './refused.ts'
import { type TlsOptions, tlsOf } from './tls.ts'

interface Socket extends TlsOptions {
  readonly host?: string
  readonly port?: number
  readonly path?: string
  readonly tls?: boolean
}

interface ClientOptions {
  readonly url?: string
  readonly socket?: Socket
  readonly username?: string
  readonly password?: string
  readonly database?: number
  readonly keyPrefix?: string
  readonly credentialsProvider?: unknown
}

interface ClusterOptions {
  readonly rootNodes: readonly ClientOptions[]
  readonly defaults?: ClientOptions
  readonly nodeAddressMap?: unknown
  readonly keyPrefix?: string
}

interface SentinelOptions {
  readonly name: string
  readonly sentinelRootNodes: readonly { host: string; port: number }[]
  readonly nodeClientOptions?: ClientOptions
  readonly sentinelClientOptions?: ClientOptions
  readonly nodeAddressMap?: unknown
  readonly keyPrefix?: string
}

/** A client of node-redis; its `_self` is the client that views of it are of. */
export interface NodeRedis {
  readonly _self?: NodeRedis
  readonly options?: ClientOptions
  readonly _options?: unknown
  duplicate(overrides?: object): object
}

/** @throws InvalidArgument */
export function clientSettings(client: NodeRedis): RemoteSettings {
  // It has taken its URL apart itself.
  const options = client.options ?? {}
  const { socket = {} } = options
  const address = socket.path === undefined ? at(socket.host, socket.port) : { path: socket.path }
  const { database = 0 } = options
  return {
    addresses: [address],
    cluster: false,
    ...rights(options),
    database,
    ...encrypted(socket),
  }
}

/** @throws InvalidArgument */
export function clusterSettings(client: NodeRedis): RemoteSettings {
  const options = optionsOf<ClusterOptions>(client)
  if (options.nodeAddressMap !== undefined) throw refused('nodeAddressMap')
  if (options.keyPrefix) throw refused('keyPrefix (the option prefix is for that)')
  const { defaults = {}, rootNodes } = options
  const nodes = rootNodes.map(({ url, socket, username, password }) => {
    if (url !== undefined) return located(url)
    const encrypted = socket?.tls === true
    return { address: at(socket?.host, socket?.port), username, password, encrypted }
  })
  const [first] = nodes
  const socket = { ...rootNodes[0]?.socket, ...defaults.socket }
  const { username = first?.username, password = first?.password } = defaults
  return {
    addresses: nodes.map(({ address }) => address),
    cluster: true,
    ...rights({ ...defaults, ...(username && { username }), ...(password && { password }) }),
    database: defaults.database ?? 0,
    ...encrypted(first?.encrypted ? { ...socket, tls: true } : socket),
  }
}

/** @throws InvalidArgument */
export function sentinelSettings(client: NodeRedis): RemoteSettings {
  const options = optionsOf<SentinelOptions>(client)
  if (options.nodeAddressMap !== undefined) throw refused('nodeAddressMap')
  if (options.keyPrefix) throw refused('keyPrefix (the option prefix is for that)')
  const { nodeClientOptions: node = {}, sentinelClientOptions: sentinel = {} } = options
  const tls = encrypted(node.socket ?? {})
  const own = encrypted(sentinel.socket ?? {})
  if (own.tls !== undefined && JSON.stringify(own.tls) !== JSON.stringify(tls.tls)) {
    throw refused("sentinelClientOptions.socket other than its nodes'")
  }
  return {
    addresses: options.sentinelRootNodes.map(({ host, port }) => at(host, port)),
    cluster: false,
    sentinel: { name: options.name, ...rights(sentinel), tls: own.tls !== undefined },
    ...rights(node),
    database: node.database ?? 0,
    ...tls,
  }
}

/** What a Cluster or a Sentinel was made with, which some versions keep to themselves. */
function optionsOf<O>(client: NodeRedis): O {
  const self = client._self ?? client
  if (self._options !== undefined) return self._options as O
  // Its own way to be made again, with a constructor that makes no connection but tells what it was given.
  let seen: O | undefined
  function Told(options: O) {
    seen = options
  }
  const likeness = Object.create({ constructor: Told }, { _self: { value: self } })
  try {
    self.duplicate.call(likeness)
  } catch {
    // Another version, which makes it in another way.
  }
  if (seen === undefined)
    throw refused('settings, which this version of its package does not show,')
  return seen
}

function rights(options: ClientOptions): Pick<RemoteSettings, 'username' | 'password'> {
  const { username, password, credentialsProvider, keyPrefix } = options
  if (keyPrefix) throw refused('keyPrefix (the option prefix is for that)')
  // Of a user and a password it makes a provider itself.
  if (credentialsProvider !== undefined && !username && !password) {
    throw refused('credentialsProvider')
  }
  return { ...(username && { username }), ...(password && { password }) }
}

function encrypted(socket: Socket): { tls?: RemoteTls } {
  return socket.tls ? { tls: tlsOf(socket) } : {}
}
