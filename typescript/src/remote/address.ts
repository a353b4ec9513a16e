import { InvalidArgument } from '../errors.ts'
import type { RemoteAddress } from './native.ts'

/** What the URL of a server says. */
export interface Located {
  readonly address: RemoteAddress
  readonly username: string | undefined
  readonly password: string | undefined
  readonly encrypted: boolean
}

/** A server's host and port. */
export function at(host: unknown, port: unknown): RemoteAddress {
  return { host: String(host ?? 'localhost'), port: Number(port ?? 6379) }
}

/** @throws InvalidArgument; the URL may hold a password, so it is not shown */
export function located(url: string): Located {
  const parsed = URL.parse(url)
  if (parsed === null || !/^rediss?:$/.test(parsed.protocol)) {
    throw new InvalidArgument('remote is a client with a URL that is not of redis: or rediss:')
  }
  const { hostname, port, username, password, protocol } = parsed
  return {
    address: at(hostname.replace(/^\[(.*)\]$/, '$1') || undefined, port || undefined),
    username: decoded(username) || undefined,
    password: decoded(password) || undefined,
    encrypted: protocol === 'rediss:',
  }
}

/** A URL's user or password. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new InvalidArgument(
      'remote has a URL with a user or a password in which a % is no escape',
    )
  }
}
