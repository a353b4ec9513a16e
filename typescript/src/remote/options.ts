/** The options of the remote tier. */
import { type Duration, milliseconds } from '../duration.ts'
import { InvalidArgument } from '../errors.ts'
import type { RemoteOptions } from './native.ts'
import { type RemoteClient, type RemoteServer, settingsOf } from './settings.ts'

/** As a cache is given them. */
export interface Given {
  readonly remote?: string | RemoteServer | RemoteClient
  readonly timeout?: Duration
  readonly maxStaleness?: Duration | 0
  readonly prefix?: string
}

type Resolved = Pick<RemoteOptions, 'url' | 'settings' | 'timeout' | 'maxStaleness' | 'prefix'>

const LONGEST_TIMEOUT = 60_000
const SHORTEST_STALENESS = 10
const LONGEST_STALENESS = 3_600_000

/**
 * Undefined without `remote`.
 * @throws InvalidArgument
 */
export function resolveRemote(given: Given): Resolved | undefined {
  const { remote, timeout, maxStaleness, prefix } = given
  if (remote === undefined) {
    for (const [name, value] of Object.entries({ timeout, maxStaleness, prefix })) {
      if (value === undefined) continue
      throw new InvalidArgument(`${name} is of a remote tier, and means nothing without remote`)
    }
    return undefined
  }
  return {
    ...serverOf(remote),
    ...(timeout !== undefined && { timeout: timeoutOf(timeout) }),
    ...(maxStaleness !== undefined && { maxStaleness: stalenessOf(maxStaleness) }),
    ...(prefix !== undefined && { prefix: prefixOf(prefix) }),
  }
}

function serverOf(
  remote: string | RemoteServer | RemoteClient,
): Pick<Resolved, 'url' | 'settings'> {
  if (typeof remote === 'string') return { url: remote }
  const isObject = typeof remote === 'object' || typeof remote === 'function'
  if (isObject && remote !== null) return { settings: settingsOf(remote) }
  throw new InvalidArgument('remote is the URL of a Redis or Valkey, or a client of one')
}

function timeoutOf(timeout: Duration): number {
  const ms = milliseconds(timeout, 'timeout')
  if (ms > LONGEST_TIMEOUT) throw new InvalidArgument('timeout is from 1ms to 60s')
  return ms
}

function stalenessOf(staleness: Duration | 0): number {
  if (staleness === 0) return 0
  const ms = milliseconds(staleness, 'maxStaleness')
  if (ms < SHORTEST_STALENESS || ms > LONGEST_STALENESS) {
    throw new InvalidArgument('maxStaleness is from 10ms to 1h, or 0')
  }
  return ms
}

function prefixOf(prefix: string): string {
  // A hash tag in it would put all keys on one primary of a Cluster.
  if (
    typeof prefix !== 'string' ||
    prefix === '' ||
    /[{}]/.test(prefix) ||
    !prefix.isWellFormed()
  ) {
    throw new InvalidArgument('prefix is text, not empty, without { and }')
  }
  return prefix
}
