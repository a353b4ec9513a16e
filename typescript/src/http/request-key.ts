/** What an answer is stored under, and what its handler may see. */
import { createHash } from 'node:crypto'

/** A longer part of a key is told by its hash. */
const LONGEST = 400

/**
 * The key of an answer: the key that was given or the URL, and the values of the fields that belong to it. Quotes end each part, so
 * that no part can pretend to be two. Without `vary` it is what the keys of all values begin with.
 */
export function keyOf(
  given: string,
  { headers }: Request,
  vary: readonly string[] | undefined,
): string {
  const base = part(given)
  if (vary === undefined) return base
  return base + vary.map((name) => part(headers.get(name))).join('')
}

function part(text: string | null): string {
  if (text === null) return '-'
  if (text.length <= LONGEST) return JSON.stringify(text)
  return `#${createHash('sha256').update(text).digest('base64url')}"`
}

/**
 * The request as a handler sees it whose answer may be stored: a GET with only those fields that belong to the key or are
 * covered, and the URL's Host: that of the request may be another one, which is not in the key. Conditions, ranges and codings are
 * not its business.
 */
export function seenBy(request: Request, keyed: ReadonlySet<string>): Request {
  const headers = new Headers()
  for (const name of keyed) {
    const value = NEVER.has(name) ? null : request.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  if (!keyed.has('host')) headers.set('host', new URL(request.url).host)
  return new Request(request.url, { headers })
}

const NEVER: ReadonlySet<string> = new Set([
  'accept-encoding',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
  'range',
])
