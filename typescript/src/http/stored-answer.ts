/** Answers as they stand in a cache (`spec/http.md`, "A stored answer"). */
import { entityTag, isEntityTag } from './entity-tag.ts'
import type { Lifetime } from './storable.ts'

/** A complete answer. Times are in ms since 1970. */
export interface StoredAnswer {
  readonly status: number
  /** Names in lower case, and values; without those of the connection and of the body's length. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
  /** Its own entity tag, or a hash of the body. */
  readonly etag: string
  /** When the answer was made, which its Age counts from. */
  readonly made: number
  readonly freshUntil: number
  readonly revalidateUntil: number
  readonly errorUntil: number
  /** See `sinceOf`. */
  readonly since?: string
}

/** In place of an answer that cannot be stored: until then each request is answered on its own. */
export interface Passing {
  readonly pass: string
  readonly until: number
  /** See `sinceOf`. */
  readonly since?: string
}

/** Of one connection (RFC 9110 7.6.1), or told anew for each answer. */
const DROPPED: ReadonlySet<string> = new Set([
  'age',
  'connection',
  'content-length',
  'etag',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'cache-status',
])

/** What is stored of an answer with this body. */
export function storedAnswer(
  status: number,
  headers: Headers,
  body: Uint8Array,
  { fresh, whileRevalidate, ifError }: Lifetime,
  age: number,
  now: number,
): StoredAnswer {
  const named = (headers.get('connection') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
  const fields = [...headers].filter(([name]) => !DROPPED.has(name) && !named.includes(name))
  const freshUntil = now + fresh * 1000
  return {
    status,
    fields,
    body,
    etag: tagOf(headers.get('etag')) ?? entityTag(body),
    made: now - age * 1000,
    freshUntil,
    revalidateUntil: freshUntil + whileRevalidate * 1000,
    errorUntil: freshUntil + ifError * 1000,
  }
}

/** What is no tag is as good as none. */
function tagOf(text: string | null): string | undefined {
  return text !== null && isEntityTag(text) ? text : undefined
}

/** Until when an entry is of any use. */
export function usefulUntil(entry: StoredAnswer | Passing): number {
  return 'pass' in entry
    ? entry.until
    : Math.max(entry.freshUntil, entry.revalidateUntil, entry.errorUntil)
}

/** The last change of its key that was known when its load began. */
export function sinceOf({ since }: StoredAnswer | Passing): string | undefined {
  return typeof since === 'string' ? since : undefined
}

/** Whether a value of the cache is an entry of this module: another program may have written to the namespace. */
export function isEntry(value: unknown): value is StoredAnswer | Passing {
  if (typeof value !== 'object' || value === null) return false
  const { pass, until, body, fields, etag, status, freshUntil } = value as Partial<
    StoredAnswer & Passing
  >
  if (typeof pass === 'string') return typeof until === 'number'
  return (
    body instanceof Uint8Array &&
    Array.isArray(fields) &&
    typeof etag === 'string' &&
    typeof status === 'number' &&
    typeof freshUntil === 'number'
  )
}
