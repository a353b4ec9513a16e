/** Answers as the Web's Response, for Bun.serve, Hono, Elysia, Next and whatever else takes one. */
import { type Answer, answer, type Selectable } from './answer.ts'
import { Pieces } from './frame.ts'
import { policyOf, type RespondOptions } from './policy.ts'

/** What is asked of a request; the Web's Request has it. */
export interface RequestLike {
  readonly method: string
  readonly headers: { get(name: string): string | null }
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

/** An answer as a Response, which copies the body's bytes (Fetch, "extract a body"). */
export function toResponse({ status, fields, body, length }: Answer): Response {
  const { record } = fields
  if (body === undefined) {
    const headers = length === undefined ? record : { ...record, 'content-length': String(length) }
    return new Response(null, { status, headers })
  }
  const bytes = body instanceof Pieces ? body.joined() : body
  return new Response(bytes as Uint8Array<ArrayBuffer>, { status, headers: record })
}
