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

const BUNS_OWN = /^function Response\(\) \{\s*\[native code\]\s*\}$/
let seen: unknown
let seenCopies = false

/**
 * Whether a Response copies the bytes that it is given, as Fetch has it ("extract a body"). Only Bun's own is known to: who puts
 * another in its place, whenever they do, may keep a reference and send the bytes later, as Hono's server for Node does.
 */
function copies(): boolean {
  if (seen !== Response) {
    seen = Response
    seenCopies = 'Bun' in globalThis && BUNS_OWN.test(Function.prototype.toString.call(Response))
  }
  return seenCopies
}

/** An answer as a Response. */
export function toResponse({ status, fields, body, length }: Answer): Response {
  const { record } = fields
  if (body === undefined) return new Response(null, { status, headers: withLength(record, length) })
  if (!(body instanceof Pieces)) return new Response(content(body), { status, headers: record })
  // Bun tells the length itself.
  if (copies())
    return new Response(body.joined() as Uint8Array<ArrayBuffer>, { status, headers: record })
  return new Response(body.copy(), { status, headers: withLength(record, length) })
}

function withLength(
  record: Readonly<Record<string, string>>,
  length: number | undefined,
): Record<string, string> {
  return length === undefined ? record : { ...record, 'content-length': String(length) }
}
