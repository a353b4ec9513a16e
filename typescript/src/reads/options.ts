import { type Cache, Cache as CacheClass, keysOf } from '../cache.ts'
import { type Duration, milliseconds } from '../duration.ts'
import { InvalidArgument } from '../errors.ts'
import { type MemoryOptions, type ResolvedMemory, resolveTier } from '../memory/options.ts'
import { checkNames } from '../option-names.ts'
import { RemoteHandle } from '../remote/handle.ts'
import type { RemoteClient, RemoteServer } from '../remote/settings.ts'
import type { Way } from './ways.ts'

/** Options of `cached`. */
export interface CachedOptions {
  /**
   * The client's server, as a cache's option of that name: for a client that does not tell it. Of another server's the
   * client reads, and nothing is kept. Default: the client's settings.
   */
  readonly remote?: string | RemoteServer | RemoteClient
  /** The directory in which the processes of this host share replies. Default: none, each has its own in memory. */
  readonly path?: string
  /** The byte limit of the directory. Default: 256 MiB. */
  readonly limit?: number | string
  /** How far a reply may be behind the server. Default: 1s. */
  readonly maxStaleness?: Duration | 0
  /** How long a command that the cache itself sends may take; reads take as long as the client lets them. Default: 250ms. */
  readonly timeout?: Duration
  /** What the cache's own keys on the server begin with. Default: `polycache`. */
  readonly prefix?: string
  /**
   * Prefixes of the keys that are read: of writes of others the server need not tell. Those of a namespace's client come
   * behind its own prefix. Default: all keys of the client.
   */
  readonly prefixes?: readonly string[]
  /** Bounds, policy and isolation of what this process keeps in memory. Default: those of a cache, but `freeze`. */
  readonly memory?: MemoryOptions
}

const OPTIONS: ReadonlySet<string> = new Set<keyof CachedOptions>([
  'remote',
  'path',
  'limit',
  'maxStaleness',
  'timeout',
  'prefix',
  'prefixes',
  'memory',
])

/** Where replies are kept. */
export interface Opened {
  readonly handle: RemoteHandle
  /** Closes what was opened for it. */
  readonly close: () => Promise<void>
  readonly memory: ResolvedMemory
  readonly prefixes: readonly string[]
  /** Milliseconds. */
  readonly joinsWithin: number
}

/** @throws InvalidArgument */
export function openReads(way: Way, given: CachedOptions | Cache): Opened {
  const own = !(given instanceof CacheClass)
  if (own) checkNames(given, OPTIONS)
  const options: CachedOptions = own ? given : {}
  const { prefixes = [''], memory = {}, remote, ...rest } = options
  const isList = Array.isArray(prefixes) && prefixes.every((one) => typeof one === 'string')
  if (!isList || prefixes.length === 0) {
    throw new InvalidArgument('prefixes is a list of texts that keys begin with; [""] for all keys')
  }
  const resolved = resolveTier({ isolation: 'freeze', ...memory })
  const cache = own
    ? new CacheClass({ ...rest, memory: false, remote: remote ?? withoutPrefix(way.client) })
    : given
  const { handle } = keysOf(cache)
  if (!(handle instanceof RemoteHandle)) {
    throw new InvalidArgument(
      'cached needs a cache with the option remote: the server of the client',
    )
  }
  const close = own ? () => cache.close() : () => Promise.resolve()
  // Of a given cache the bound is not known here: the lowest that there is.
  const joinsWithin = own ? staleness(rest.maxStaleness) : 10
  return { handle, close, memory: resolved, prefixes, joinsWithin }
}

/** No caller is given what was read longer ago. */
function staleness(given: Duration | 0 | undefined): number {
  return given === 0 ? 0 : Math.min(milliseconds(given ?? '1s', 'maxStaleness'), 1000)
}

interface Prefixed {
  readonly keyPrefix?: unknown
  readonly redisOptions?: Prefixed
}

/** The client without its keyPrefix, which is not put before the cache's own keys. */
function withoutPrefix(client: object): object {
  const { options } = client as { options?: Prefixed }
  // A Cluster has it of its nodes, too.
  const { keyPrefix, redisOptions } = options ?? {}
  if (!keyPrefix) return client
  const bare = Object.create(options as object, {
    keyPrefix: { value: undefined },
    redisOptions: { value: redisOptions && { ...redisOptions, keyPrefix: undefined } },
  }) as object
  return Object.create(client, { options: { value: bare } }) as object
}
