/** The field Cache-Control (RFC 9111 5.2, RFC 5861, RFC 8246). */
import { type Duration, milliseconds } from '../duration.ts'
import { InvalidArgument } from '../errors.ts'
import { checkNames } from '../option-names.ts'

/** Directives of a response. Times are told in whole seconds, so they are rounded down. */
export interface CacheControl {
  /** Who may store it: everyone, or the user's own browser only. Default: not said. */
  readonly visibility?: 'public' | 'private'
  /** How long it is fresh. Default: not said, so that caches guess; write `noCache` if they must not. */
  readonly maxAge?: Duration | 0
  /** How long it is fresh in caches that many users share. Default: as `maxAge`. */
  readonly sharedMaxAge?: Duration | 0
  /** How long after that it may be served while a newer one is fetched (RFC 5861 3). Default: not at all. */
  readonly staleWhileRevalidate?: Duration
  /** How long after that it may be served where no newer one can be had (RFC 5861 4). Default: not at all. */
  readonly staleIfError?: Duration
  /** It may be stored, and each use of it asks first whether it is current. Default: false. */
  readonly noCache?: boolean
  /** Nobody stores it. Default: false. */
  readonly noStore?: boolean
  /** It is never served stale. Default: false. */
  readonly mustRevalidate?: boolean
  /** It never changes while it is fresh (RFC 8246). Default: false. */
  readonly immutable?: boolean
}

const OPTIONS: ReadonlySet<string> = new Set<keyof CacheControl>([
  'visibility',
  'maxAge',
  'sharedMaxAge',
  'staleWhileRevalidate',
  'staleIfError',
  'noCache',
  'noStore',
  'mustRevalidate',
  'immutable',
])

/**
 * The text of the field.
 * @throws InvalidArgument
 */
export function cacheControlText(control: CacheControl): string {
  checkNames(control, OPTIONS)
  const { visibility } = control
  if (visibility !== undefined && visibility !== 'public' && visibility !== 'private')
    throw new InvalidArgument("visibility is 'public' or 'private'")
  if (control.noStore && Object.keys(control).length > 1)
    throw new InvalidArgument('noStore stands alone: what nobody stores has no age')
  const directives = [
    visibility,
    control.noCache && 'no-cache',
    control.noStore && 'no-store',
    control.mustRevalidate && 'must-revalidate',
    control.immutable && 'immutable',
    seconds('max-age', control.maxAge, 'maxAge'),
    seconds('s-maxage', control.sharedMaxAge, 'sharedMaxAge'),
    seconds('stale-while-revalidate', control.staleWhileRevalidate, 'staleWhileRevalidate'),
    seconds('stale-if-error', control.staleIfError, 'staleIfError'),
  ].filter((directive) => typeof directive === 'string')
  if (directives.length === 0) throw new InvalidArgument('cacheControl has no directive')
  return directives.join(', ')
}

function seconds(directive: string, duration: Duration | 0 | undefined, name: string) {
  if (duration === undefined) return undefined
  const ms = duration === 0 ? 0 : milliseconds(duration, name)
  return `${directive}=${Math.floor(ms / 1000)}`
}
