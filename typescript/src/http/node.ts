/** Answers written to the response of node:http, Express, Connect and node:http2's compatible API. */
import { type Answer, answer, type Selectable } from './answer.ts'
import type { Served } from './endpoint.ts'
import { type Before, withThoseBefore } from './fields-before.ts'
import { Pieces } from './frame.ts'
import { type Policy, policyOf, type RespondOptions } from './policy.ts'

/** What is asked of a request; `IncomingMessage` of node:http and Express' request have it. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly headers: { readonly [name: string]: string | string[] | undefined }
}

/** What is asked of a response; `ServerResponse` of node:http and Express' response have it. */
export interface NodeResponse extends Before {
  readonly headersSent: boolean
  writeHead(status: number, headers: string[]): unknown
  write(chunk: Uint8Array): unknown
  end(chunk?: Uint8Array | string): unknown
  cork(): void
  uncork(): void
}

/**
 * Sends the answer to a request, as `Representation.respond` makes it, with the fields that `setHeader` set before; Vary is joined. It is
 * written at once, unless a variant has to be compressed first; then the promise says when.
 */
export function send(
  request: NodeRequest,
  response: NodeResponse,
  subject: Served,
  options?: RespondOptions,
): undefined | Promise<void> {
  const made = answerNode(request, subject, policyOf(options))
  if (made instanceof Promise) return made.then((later) => writeLate(response, later))
  write(response, made)
}

/** The answer to a request of node:http. */
export function answerNode(
  { method, headers }: NodeRequest,
  subject: Selectable,
  policy: Policy,
): Answer | Promise<Answer> {
  // Node joins repeated ones of these by commas.
  const ifMatch = headers['if-match'] as string | undefined
  const ifNoneMatch = headers['if-none-match'] as string | undefined
  const acceptEncoding = headers['accept-encoding'] as string | undefined
  return answer(subject, policy, method, ifMatch, ifNoneMatch, acceptEncoding)
}

/** Writes an answer. A client that has gone is no error: node:http drops what is written for it. */
export function write(response: NodeResponse, { status, fields, body, length }: Answer): void {
  const list =
    length === undefined ? fields.list : [...fields.list, 'content-length', String(length)]
  response.writeHead(status, withThoseBefore(list, response))
  if (body instanceof Pieces) {
    response.cork()
    response.write(body.frame.fixed)
    response.end(body.tail)
    response.uncork()
  } else response.end(body)
}

/**
 * Writes an answer that was waited for, unless somebody else has answered meanwhile, as a middleware that limits the time does:
 * node:http would throw, and an error of a promise that no server waits for ends the process.
 */
export function writeLate(response: NodeResponse, answer: Answer): void {
  if (!response.headersSent) write(response, answer)
}
