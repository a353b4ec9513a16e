/** The settings of Bun's own client, and of URLs as it takes them. */
import { InvalidArgument } from '../errors.ts'
import { at, decoded } from './address.ts'
import type { RemoteSettings } from './native.ts'
import { tlsOf } from './tls.ts'

/** A server by the URL and the encryption that Bun's `RedisClient` is made with. */
export interface RemoteServer {
  /** `redis://`, `rediss://` for TLS, `redis+unix://`; `valkey` instead of `redis`, too. */
  readonly url: string
  /** How connections are encrypted; true as `rediss://`. */
  readonly tls?: boolean | ServerTls
}

/** What is used of a client's TLS options. */
export interface ServerTls {
  /** The authorities that are trusted, in PEM. Default: the system's. */
  readonly ca?: Pem
  /** The certificate that the client shows. */
  readonly cert?: Pem
  /** Its key. */
  readonly key?: Pem
  /** False: the server's certificate is not looked at. */
  readonly rejectUnauthorized?: boolean
}

type Pem = string | Uint8Array | readonly (string | Uint8Array)[]

const TLS_OPTIONS: ReadonlySet<string> = new Set<keyof ServerTls>([
  'ca',
  'cert',
  'key',
  'rejectUnauthorized',
])

/** @throws InvalidArgument */
export function bunSettings(client: object): RemoteSettings {
  if (client !== defaultClient()) {
    throw new InvalidArgument(
      "remote is a RedisClient of Bun, which does not tell its URL unless it is Bun.redis: give remote the client's URL, " +
        'or { url, tls }',
    )
  }
  // Bun does not see what the program changes in its environment later.
  const { REDIS_URL, VALKEY_URL } = process.env
  return told(REDIS_URL || VALKEY_URL || 'valkey://localhost:6379', undefined)
}

/** Bun makes it when it is first asked for, and throws where its URL is wrong. */
function defaultClient(): unknown {
  try {
    return (globalThis as { Bun?: { redis?: unknown } }).Bun?.redis
  } catch {
    return undefined
  }
}

export function isServer(remote: object): remote is RemoteServer {
  return Object.getPrototypeOf(remote) === Object.prototype && 'url' in remote
}

/** @throws InvalidArgument */
export function serverSettings({ url, tls, ...others }: RemoteServer): RemoteSettings {
  const unknown = Object.keys(others)
  if (typeof tls === 'object' && tls !== null) {
    const names = Object.keys(tls).filter((name) => !TLS_OPTIONS.has(name))
    unknown.push(...names.map((name) => `tls.${name}`))
  } else if (tls !== undefined && typeof tls !== 'boolean') {
    unknown.push('tls of another kind')
  }
  if (unknown.length > 0) {
    throw new InvalidArgument(
      `remote is { url, tls }, where tls is true or { ca, cert, key, rejectUnauthorized }, without ${unknown[0]}`,
    )
  }
  if (typeof url !== 'string') throw wrong('is no text')
  if (url.includes('?')) {
    throw wrong('has a query: the database is its path, as in redis://host:6379/3')
  }
  return told(url, tls || undefined)
}

/** As Bun reads it. */
function told(given: string, tls: true | ServerTls | undefined): RemoteSettings {
  const url = URL.parse(given.includes('://') ? given : `valkey://${given}`)
  const scheme = /^(?:redis|valkey)(s?|\+tls)(\+unix)?:$/.exec(url?.protocol ?? '')
  if (url === null || scheme === null || (scheme[1] === 's' && scheme[2])) {
    throw wrong('is none of redis:, rediss: or redis+unix:')
  }
  const [, encrypted, unix] = scheme
  if (unix && (encrypted || tls)) throw wrong('is a socket in the file system with TLS')
  if (!unix && url.hostname === '') throw wrong('names no host')
  const database = unix ? '0' : url.pathname.slice(1) || '0'
  if (!/^\d{1,9}$/.test(database)) throw wrong('has a path that is no number of a database')
  const username = decoded(url.username)
  const password = decoded(url.password)
  return {
    addresses: [
      unix ? { path: url.pathname } : at(unbracketed(url.hostname), url.port || undefined),
    ],
    cluster: false,
    ...(username && { username }),
    ...((username || password) && { password }),
    database: Number(database),
    ...((encrypted || tls) && {
      tls: tlsOf(tls === undefined || tls === true ? true : { ...tls }),
    }),
  }
}

function unbracketed(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

/** The URL may hold a password, so it is not shown. */
function wrong(why: string): InvalidArgument {
  return new InvalidArgument(`remote has a URL that ${why}`)
}
