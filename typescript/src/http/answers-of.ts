/** Answers to requests, of what is stored. */
import { answer } from './answer.ts'
import { withCacheStatus } from './cache-status.ts'
import { directivesOf } from './directives.ts'
import { Fields } from './fields.ts'
import { type Policy, policyOf, type RespondOptions } from './policy.ts'
import { Representation } from './representation.ts'
import type { StoredAnswer } from './stored-answer.ts'
import { toResponse } from './web.ts'

/** The answer to a request from a stored one; `status` is for the field Cache-Status. */
export interface HandedOut {
  (
    key: string,
    stored: StoredAnswer,
    request: Request,
    status: string,
  ): Response | Promise<Response>
  /** Adds the field to a handler's own answer. */
  tell(response: Response, status: string): Response
}

/** A stored answer whose compressed variants are kept. */
interface Kept {
  /** What `size` counts of it: grows with its variants. */
  weight: number
  readonly made: number
  readonly etag: string
  readonly representation: Representation
  readonly policies: Map<string, Policy>
}

/** Most bytes that are kept, of keys and of bodies with their variants. */
const MOST = 2 ** 25
/** What one costs beside these, about. */
const EACH = 256

/** Hands out answers; the representations of those used last are kept, so that each variant is compressed once. */
export function answersOf(
  options: Pick<RespondOptions, 'codings' | 'compressFrom'> & { readonly cacheStatus?: boolean },
  keyed: readonly string[],
  clock: () => number,
): HandedOut {
  const { cacheStatus = true, codings, compressFrom } = options
  const base = policyOf({
    ...(codings !== undefined && { codings }),
    ...(compressFrom !== undefined && { compressFrom }),
  })
  const kept = new Map<string, Kept>()
  let size = 0

  /** Counts what was made of one that is kept, and lets those go that were used longest ago. */
  const weigh = (key: string, one: Kept) => {
    if (kept.get(key) !== one) return
    const weight = EACH + key.length + one.representation.held
    size += weight - one.weight
    one.weight = weight
    for (const [oldest, old] of kept) {
      if (size <= MOST) break
      kept.delete(oldest)
      size -= old.weight
    }
  }

  const keptOf = (key: string, stored: StoredAnswer): Kept => {
    const known = kept.get(key)
    if (known?.made === stored.made && known.etag === stored.etag) {
      kept.delete(key)
      kept.set(key, known)
      return known
    }
    if (known !== undefined) size -= known.weight
    kept.delete(key)
    const { body, made, etag } = stored
    const contentType = fieldOf(stored, 'content-type') ?? ''
    const representation = new Representation(body, { contentType, storedAt: made, etag, clock })
    const one = { weight: 0, made, etag, representation, policies: new Map<string, Policy>() }
    if (body.length > MOST) return one
    kept.set(key, one)
    weigh(key, one)
    return one
  }

  const handOut = (key: string, stored: StoredAnswer, request: Request, status: string) => {
    const told = cacheStatus ? status : undefined
    if (stored.status !== 200)
      return other(stored, policyFor(stored, base, keyed, told), request, clock())
    const one = keptOf(key, stored)
    const { representation, policies } = one
    let policy = policies.get(status)
    if (policy === undefined) {
      policy = policyFor(stored, base, keyed, told)
      policies.set(status, policy)
    }
    const { headers } = request
    const made = answer(
      representation,
      policy,
      request.method,
      headers.get('if-match'),
      headers.get('if-none-match'),
      headers.get('accept-encoding'),
    )
    if (!(made instanceof Promise)) return toResponse(made)
    return made.then((compressed) => {
      weigh(key, one)
      return toResponse(compressed)
    })
  }

  const tell = (response: Response, status: string) =>
    cacheStatus ? withCacheStatus(response, status) : response
  return Object.assign(handOut, { tell })
}

/** The stored fields, as a policy has them; those of the content are the representation's. `keyed` are fields that it was chosen by. */
function policyFor(
  stored: StoredAnswer,
  base: Policy,
  keyed: readonly string[],
  status: string | undefined,
): Policy {
  const always: string[] = []
  const vary = new Set<string>()
  // RFC 9111 5.2.2.6.
  const mayTransform = !directivesOf(fieldOf(stored, 'cache-control')).has('no-transform')
  const codings = mayTransform ? base.codings : []
  for (const [name, value] of stored.fields) {
    if (name === 'vary') for (const one of value.split(',')) vary.add(one.trim().toLowerCase())
    else if (name !== 'content-type') always.push(name, value)
  }
  for (const name of keyed) vary.add(name)
  vary.delete('')
  if (codings.length > 0) vary.add('accept-encoding')
  if (vary.size > 0) always.push('vary', [...vary].join(', '))
  if (status !== undefined) always.push('cache-status', `polycache; ${status}`)
  return { ...base, codings, always }
}

function fieldOf({ fields }: StoredAnswer, wanted: string): string | null {
  return fields.find(([name]) => name === wanted)?.[1] ?? null
}

/** An answer with another status has no conditions (RFC 9110 13.2.1). */
function other(stored: StoredAnswer, policy: Policy, { method }: Request, now: number): Response {
  const { status, body, made, fields } = stored
  const type = fields.find(([name]) => name === 'content-type')
  const age = String(Math.max(0, Math.floor((now - made) / 1000)))
  const list = [...(type ?? []), ...policy.always, 'age', age]
  const isEmpty = method === 'HEAD' || [204, 205, 304].includes(status)
  return toResponse({ status, fields: new Fields(list), body: isEmpty ? undefined : body })
}
