/** Answers through Fastify's reply, so that hooks and what plugins add to every answer stay in force. */
import { Readable } from 'node:stream'
import type { Answer } from './answer.ts'
import type { Served } from './endpoint.ts'
import { type Before, joinedVary } from './fields-before.ts'
import { Pieces } from './frame.ts'
import { answerNode, type NodeRequest, type NodeResponse } from './node.ts'
import { policyOf, type RespondOptions } from './policy.ts'

/** What is asked of a request; Fastify's has it. */
export interface FastifyRequestLike {
  readonly raw: NodeRequest
}

/** What is asked of a reply; Fastify's has it. */
export interface FastifyReplyLike extends Before {
  code(status: number): unknown
  headers(fields: Record<string, string>): unknown
  send(payload?: unknown): unknown
}

/** What is asked of a reply that is written to directly; Fastify's has it. */
export interface FastifyRawReply {
  readonly raw: NodeResponse & {
    setHeader(name: string, value: string | number | readonly string[]): unknown
  }
  getHeaders(): Record<string, string | number | string[] | undefined>
  hijack(): unknown
}

/**
 * Replies to a request, as `Representation.respond` does. A handler returns the result.
 *
 * ```ts
 * app.get('/', (request, reply) => sendFastify(request, reply, page))
 * ```
 */
export function sendFastify<R extends FastifyReplyLike>(
  request: FastifyRequestLike,
  reply: R,
  subject: Served,
  options?: RespondOptions,
): R | Promise<R> {
  const made = answerNode(asGet(request.raw), subject, policyOf(options))
  if (made instanceof Promise) return made.then((later) => replyWith(request, reply, later))
  return replyWith(request, reply, made)
}

/** Fastify itself makes the answer to HEAD of that to GET. */
export function asGet(raw: NodeRequest): NodeRequest {
  return raw.method === 'HEAD' ? { method: 'GET', headers: raw.headers } : raw
}

/** Replies with an answer to GET. */
export function replyWith<R extends FastifyReplyLike>(
  request: FastifyRequestLike,
  reply: R,
  { status, fields, body }: Answer,
): R {
  reply.code(status)
  const { record } = fields
  const vary = reply.getHeader('vary')
  reply.headers(record)
  if (vary !== undefined && record.vary !== undefined)
    reply.headers({ vary: joinedVary(vary, record.vary) })
  if (body instanceof Pieces) reply.send(body.copy())
  // Fastify would tell that the content has 0 bytes, which is not so; of a stream it tells nothing.
  else if (body === undefined && request.raw.method === 'HEAD') reply.send(Readable.from([]))
  else reply.send(body)
  return reply
}
