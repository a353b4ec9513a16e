/** Answers as the Web's Response, for Bun.serve, Hono, Elysia, Next and whatever else takes one. */
import { type Answer, answer, type Selectable } from './answer.ts'
import { Pieces } from './frame.ts'
import { policyOf, type RespondOptions } from './policy.ts'

/** What is asked of a request; the Web's Request has it. */
export interface RequestLike {
  /** As `GET`. */
  readonly method: string
  /** Looks a field up by its name in lower case. */
  readonly headers: Pick<Headers, 'get'>
}

/** The answer to a request; at once, unless a variant has to be compressed first. */
export function respondWith(
  subject: Selectable,
  request: RequestLike,
  options?: RespondOptions,
): Response | Promise<Response> {
  const { headers } = request
  const made = answer(
    subject,
    policyOf(options),
    request.method,
    headers.get('if-match'),
    headers.get('if-none-match'),
    headers.get('accept-encoding'),
  )
  return made instanceof Promise ? made.then(toResponse) : toResponse(made)
}

/**
 * Bun shares the bytes of a Blob with every Response of it. Elsewhere a Blob is read as a stream, which takes longer than
 * the copy.
 */
const SHARES_BLOBS = 'Bun' in globalThis
const blobs = new WeakMap<Uint8Array, Blob>()

/** The bytes, which nobody changes, as what a Response takes them from with the least work. */
function content(bytes: Uint8Array): Uint8Array<ArrayBuffer> | Blob {
  if (!SHARES_BLOBS) return bytes as Uint8Array<ArrayBuffer>
  let blob = blobs.get(bytes)
  if (blob === undefined) {
    blob = new Blob([bytes as Uint8Array<ArrayBuffer>])
    blobs.set(bytes, blob)
  }
  return blob
}

/** An answer as a Response, which copies the body's bytes where the run time cannot share them (Fetch, "extract a body"). */
export function toResponse({ status, fields, body, length }: Answer): Response {
  const { record } = fields
  if (body === undefined) {
    const headers = length === undefined ? record : { ...record, 'content-length': String(length) }
    return new Response(null, { status, headers })
  }
  const bytes = body instanceof Pieces ? (body.joined() as Uint8Array<ArrayBuffer>) : content(body)
  return new Response(bytes, { status, headers: record })
}
