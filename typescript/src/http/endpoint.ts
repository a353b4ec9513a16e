/** One handler for every framework: it asks a source for what to serve, and answers, also when the source fails. */
import { InvalidArgument } from '../errors.ts'
import { type Answer, answer, type Selectable } from './answer.ts'
import type { Composite } from './composite.ts'
import {
  asGet,
  type FastifyRawReply,
  type FastifyReplyLike,
  type FastifyRequestLike,
  replyWith,
} from './fastify.ts'
import { joinedVary } from './fields-before.ts'
import { answerNode, type NodeRequest, type NodeResponse, writeLate } from './node.ts'
import { policyOf, type RespondOptions } from './policy.ts'
import { HttpProblem, problemAnswer, problemOf } from './problem.ts'
import type { Representation } from './representation.ts'
import { toResponse } from './web.ts'

/** What a source is told of a request. Its members may be taken apart. */
export interface Asked {
  /** GET or HEAD. */
  readonly method: string
  /** The parameters behind the question mark. */
  readonly query: URLSearchParams
  /** What the framework's route matched: `{ key: 'a' }` for `/streams/:key`. Empty where the framework has none. */
  readonly params: Readonly<Record<string, string | undefined>>
  /** A header field by its name; undefined where it is absent. */
  readonly header: (name: string) => string | undefined
}

/** What is served: a value, or a document around one. */
export type Served = Representation | Composite

/** Gives what to serve; undefined is answered 404. */
export type Source = (asked: Asked) => Served | undefined | Promise<Served | undefined>

/** Options of `endpoint`. */
export interface EndpointOptions extends RespondOptions {
  /**
   * Told of each error that the client got a status from 500 on for. Default: `console.error`, because the client is not
   * told what it was.
   */
  readonly onError?: (error: unknown) => void
}

/** A handler in the form of each framework. None of them needs `this`. */
export interface Endpoint {
  /** Bun.serve, Deno, Next's route handlers, and whatever else takes a Request. */
  fetch(request: Request): Response | Promise<Response>
  /** node:http, Express and Connect. */
  node(request: NodeServed, response: NodeResponse): void | Promise<void>
  /** Fastify; its hooks run, and plugins may add fields. */
  fastify<R extends FastifyReplyLike>(request: FastifyServed, reply: R): R | Promise<R>
  /**
   * Fastify without its onSend hooks, as `reply.hijack` has it: what `reply.header` has set is kept. For documents around
   * a value, which then need not be copied for the hooks.
   */
  fastifyRaw(request: FastifyServed, reply: FastifyRawReply): void | Promise<void>
  /** Hono. */
  hono(context: {
    readonly req: { readonly raw: Request; param(): Record<string, string> }
  }): Response | Promise<Response>
  /** Elysia. */
  elysia(context: {
    readonly request: Request
    readonly params?: object
    readonly set?: { readonly headers: { readonly vary?: string | number } }
  }): Response | Promise<Response>
}

/** A request of node:http or Express. */
export interface NodeServed extends NodeRequest {
  readonly url?: string | undefined
  readonly params?: object
}

/** A request of Fastify. */
export interface FastifyServed extends FastifyRequestLike {
  readonly raw: NodeServed
  readonly params?: unknown
}

const NO_PARAMS: Asked['params'] = {}

/**
 * A handler that asks `source` for what to serve, and answers as `Representation.respond` does. An `HttpProblem` that the source
 * throws becomes its problem document, an error of this package that a retry helps with 503, and any other 500.
 *
 * ```ts
 * const stream = endpoint(({ query }) => reads.json.xrange('events', streamRange(query)))
 * createServer(stream.node); app.get('/', stream.fastify); Bun.serve({ fetch: stream.fetch })
 * ```
 *
 * @throws InvalidArgument
 */
export function endpoint(source: Source, options: EndpointOptions = {}): Endpoint {
  if (typeof source !== 'function') throw new InvalidArgument('the source is a function')
  const { onError = console.error, ...rest } = options
  if (typeof onError !== 'function') throw new InvalidArgument('onError is a function')
  const policy = policyOf(rest)
  const failed = (error: unknown, method: string | undefined): Answer => {
    const made = problemOf(error, method)
    if (made.status >= 500) onError(error)
    return made
  }
  const web = (request: Request, params: Asked['params']): Response | Promise<Response> => {
    const { method, headers } = request
    const respond = (subject: Selectable) =>
      answer(
        subject,
        policy,
        method,
        headers.get('if-match'),
        headers.get('if-none-match'),
        headers.get('accept-encoding'),
      )
    return ask(source, new OfWeb(request, params), failed, respond, toResponse)
  }
  const node = <T>(
    request: NodeServed,
    params: unknown,
    deliver: (made: Answer) => T,
    conditions: NodeRequest = request,
  ): T | Promise<T> => {
    const respond = (subject: Selectable) => answerNode(conditions, subject, policy)
    return ask(source, new OfNode(request, paramsOf(params)), failed, respond, deliver)
  }
  return {
    fetch: (request) => web(request, paramsOf((request as { params?: unknown }).params)),
    hono: ({ req }) => web(req.raw, req.param()),
    elysia({ request, params, set }) {
      const made = web(request, paramsOf(params))
      const vary = set?.headers.vary
      if (vary === undefined) return made
      // Elysia drops what was set where the answer has the field.
      const join = (response: Response) => {
        response.headers.set('vary', joinedVary(vary, response.headers.get('vary') ?? ''))
        return response
      }
      return made instanceof Promise ? made.then(join) : join(made)
    },
    node: (request, response) => node(request, request.params, (made) => writeLate(response, made)),
    fastify(request, reply) {
      const deliver = (made: Answer) => replyWith(request, reply, made)
      return node(request.raw, request.params, deliver, asGet(request.raw))
    },
    fastifyRaw(request, reply) {
      const { raw } = reply
      const headers = reply.getHeaders()
      for (const name in headers) {
        const value = headers[name]
        if (value === undefined) continue
        const before = name === 'vary' ? raw.getHeader(name) : undefined
        raw.setHeader(name, before === undefined ? value : joinedVary(before, String(value)))
      }
      reply.hijack()
      return node(request.raw, request.params, (made) => writeLate(raw, made))
    },
  }
}

/** Delivers the answer with what the source gives; at once, if the source does so and nothing is to be compressed. */
function ask<T>(
  source: Source,
  asked: Asked,
  failed: (error: unknown, method: string) => Answer,
  respond: (subject: Selectable) => Answer | Promise<Answer>,
  deliver: (answer: Answer) => T,
): T | Promise<T> {
  const { method } = asked
  if (method !== 'GET' && method !== 'HEAD') return deliver(problemAnswer(405, method))
  // No promise more than there must be: a chain of them costs as much as all else.
  const fail = (error: unknown) => deliver(failed(error, method))
  const serve = (given: Served | undefined): T | Promise<T> => {
    let made: Answer | Promise<Answer>
    try {
      made = respond(checked(given))
    } catch (error) {
      return fail(error)
    }
    return made instanceof Promise ? made.then(deliver, fail) : deliver(made)
  }
  let subject: Served | undefined | Promise<Served | undefined>
  try {
    subject = source(asked)
  } catch (error) {
    return fail(error)
  }
  return subject instanceof Promise ? subject.then(serve, fail) : serve(subject)
}

/** A source that finds nothing serves no empty answer. */
function checked(subject: Selectable | undefined): Selectable {
  if (subject === undefined) throw new HttpProblem(404, 'There is nothing here.')
  if (typeof subject?.select === 'function') return subject
  throw new InvalidArgument('a source gives a Representation, or one within fields')
}

function paramsOf(params: unknown): Asked['params'] {
  return typeof params === 'object' && params !== null ? (params as Asked['params']) : NO_PARAMS
}

function queryOf(url: string): URLSearchParams {
  const at = url.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1).split('#', 1)[0])
}

class OfWeb implements Asked {
  readonly #request: Request
  readonly params: Asked['params']

  constructor(request: Request, params: Asked['params']) {
    this.#request = request
    this.params = params
  }

  get method(): string {
    return this.#request.method
  }

  get query(): URLSearchParams {
    return queryOf(this.#request.url)
  }

  get header(): Asked['header'] {
    return (name) => this.#request.headers.get(name) ?? undefined
  }
}

class OfNode implements Asked {
  readonly #request: NodeServed
  readonly params: Asked['params']

  constructor(request: NodeServed, params: Asked['params']) {
    this.#request = request
    this.params = params
  }

  get method(): string {
    return this.#request.method ?? 'GET'
  }

  get query(): URLSearchParams {
    return queryOf(this.#request.url ?? '')
  }

  get header(): Asked['header'] {
    return (name) => {
      const value = this.#request.headers[name.toLowerCase()]
      return Array.isArray(value) ? value.join(', ') : value
    }
  }
}
