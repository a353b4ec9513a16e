/** What a shared cache may store, and for how long (RFC 9111 3 and 4.2, RFC 5861). */
import { type Directives, directivesOf, secondsOf } from './directives.ts'

/** How long an answer may be served, in seconds from now on. */
export interface Lifetime {
  readonly fresh: number
  /** After that, while a newer one is fetched. */
  readonly whileRevalidate: number
  /** After `fresh`, where no newer one can be had. */
  readonly ifError: number
}

/** Why an answer is not stored. */
export type Refusal =
  | 'status'
  | 'server-error'
  | 'set-cookie'
  | 'private'
  | 'no-store'
  | 'no-cache'
  | 'vary'
  | 'content-encoding'
  | 'event-stream'
  | 'no-lifetime'
  | 'too-large'
  | 'incomplete'

/** Lifetimes in seconds for answers that name none. */
export interface Defaults {
  readonly fresh: number | undefined
  readonly whileRevalidate: number
  readonly ifError: number
}

/** Those that may be stored without being told so (RFC 9110 15.1), apart from those of parts of a body. */
const BY_DEFAULT: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 308, 404, 410])
/** Their meaning needs a request of its own, or the whole is missing. */
const NEVER: ReadonlySet<number> = new Set([101, 206, 304, 401, 407, 412, 416, 426])

/**
 * How long an answer may be served to all who have the same key, or why to nobody else.
 * @param keyed request fields, in lower case, that belong to the key or that the key stands for
 */
export function lifetimeOf(
  status: number,
  headers: Headers,
  keyed: ReadonlySet<string>,
  defaults: Defaults,
  now: number,
): Lifetime | Refusal {
  if (status >= 500) return 'server-error'
  if (status < 200 || NEVER.has(status)) return 'status'
  if (headers.has('set-cookie')) return 'set-cookie'
  const directives = directivesOf(headers.get('cache-control'))
  if (directives.has('no-store')) return 'no-store'
  if (directives.has('private')) return 'private'
  // Also with names of fields: the rest could be stored, but is not worth the trouble.
  if (directives.has('no-cache')) return 'no-cache'
  if (!isKeyed(headers.get('vary'), keyed)) return 'vary'
  // A body without a coding serves every client: we make the codings.
  if (headers.has('content-encoding')) return 'content-encoding'
  // It never ends, and would be waited for.
  if (/^text\/event-stream/i.test(headers.get('content-type') ?? '')) return 'event-stream'
  return freshness(status, headers, directives, defaults, now)
}

/** Whether all that an answer was chosen by is in the key. */
function isKeyed(vary: string | null, keyed: ReadonlySet<string>): boolean {
  if (vary === null) return true
  return vary.split(',').every((part) => {
    const name = part.trim().toLowerCase()
    return name === '' || name === 'accept-encoding' || keyed.has(name)
  })
}

function freshness(
  status: number,
  headers: Headers,
  directives: Directives,
  defaults: Defaults,
  now: number,
): Lifetime | Refusal {
  const shared = secondsOf(directives, 's-maxage')
  const told = shared ?? secondsOf(directives, 'max-age') ?? expires(headers, now)
  const base = told ?? (BY_DEFAULT.has(status) ? defaults.fresh : undefined)
  if (base === undefined)
    return told === undefined && defaults.fresh !== undefined ? 'status' : 'no-lifetime'
  const fresh = base - ageOf(headers)
  const bound = directives.has('must-revalidate') || directives.has('proxy-revalidate')
  // With s-maxage an answer is served stale only if it says so itself (RFC 9111 4.2.4).
  const stale = (name: string, other: number) =>
    bound ? 0 : (secondsOf(directives, name) ?? (shared === undefined ? other : 0))
  const whileRevalidate = stale('stale-while-revalidate', defaults.whileRevalidate)
  const ifError = stale('stale-if-error', defaults.ifError)
  if (fresh + Math.max(whileRevalidate, ifError) <= 0) return 'no-lifetime'
  return { fresh, whileRevalidate, ifError }
}

/** Seconds that Expires gives; a date that cannot be read is past. */
function expires(headers: Headers, now: number): number | undefined {
  const text = headers.get('expires')
  if (text === null) return undefined
  const until = timeOf(text)
  const date = timeOf(headers.get('date') ?? '')
  return Number.isNaN(until) ? 0 : Math.floor((until - (Number.isNaN(date) ? now : date)) / 1000)
}

/** A date of HTTP (RFC 9110 5.6.7) in ms since 1970. `Date.parse` alone takes `0` for the year 2000. */
function timeOf(text: string): number {
  if (!/^[A-Z][a-z]+,? .*[0-9]{2}:[0-9]{2}:[0-9]{2}/.test(text)) return Number.NaN
  // The oldest form names no zone, and means this one.
  return Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`)
}

/** How old an answer says that it is already. */
export function ageOf(headers: Headers): number {
  const text = headers.get('age') ?? ''
  return /^[0-9]+$/.test(text) ? Math.min(Number(text), 2 ** 31) : 0
}
