/** A handler of the Web's Request under node:http, Express or Connect. */
import { InvalidArgument } from '../errors.ts'
import { checkNames } from '../option-names.ts'
import { bytes } from '../size.ts'
import { type Before, withThoseBefore } from './fields-before.ts'
import { write } from './node.ts'
import { HttpProblem, problemOf } from './problem.ts'
import type { FetchHandler } from './response-cache.ts'

/** Options of `nodeHandler`. */
export interface NodeHandlerOptions {
  /** Bytes of the largest body of a request, a number or text; a larger one is answered 413. Default: 1MiB. */
  readonly maxBody?: number | string
  /**
   * What begins the request's URL, as `https://shop.example`; its host stands in the field Host, too, whatever the client wrote there.
   * Default: `http://` and the field Host.
   */
  readonly origin?: string
  /** Told of what the handler throws, for which the client gets 500. Default: `console.error`. */
  readonly onError?: (error: unknown) => void
}

/** A request of node:http, as it is read here. */
export interface IncomingLike extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly rawHeaders: readonly string[]
  readonly headers: { readonly host?: string | undefined }
  readonly complete: boolean
}

/** A response of node:http, as it is written here. */
export interface OutgoingLike extends Before {
  readonly destroyed: boolean
  readonly headersSent: boolean
  writeHead(status: number, headers: string[]): unknown
  write(chunk: Uint8Array): boolean
  end(chunk?: Uint8Array | string): unknown
  cork(): void
  uncork(): void
  destroy(): unknown
  once(event: 'drain' | 'close', listener: () => void): unknown
  off(event: 'drain' | 'close', listener: () => void): unknown
}

const OPTIONS: ReadonlySet<string> = new Set<keyof NodeHandlerOptions>([
  'maxBody',
  'origin',
  'onError',
])
const HTTP = /^https?:\/\//i
const HOST = /^(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?$/

/**
 * Serves a handler of the Web's Request, as `responseCache` makes it, with node:http, Express or Connect. The promise is
 * settled when the answer is written.
 *
 * ```ts
 * createServer(nodeHandler(responseCache(cache, render)))
 * ```
 *
 * @throws InvalidArgument
 */
export function nodeHandler(
  handler: FetchHandler,
  options: NodeHandlerOptions = {},
): (request: IncomingLike, response: OutgoingLike) => Promise<void> {
  checkNames(options, OPTIONS)
  if (typeof handler !== 'function') throw new InvalidArgument('the handler is a function')
  const { origin, onError = console.error } = options
  if (origin !== undefined && !(HTTP.test(origin) && URL.canParse(origin)))
    throw new InvalidArgument('origin is a URL, as https://shop.example')
  const maxBody = bytes(options.maxBody ?? '1MiB', 'maxBody')
  return async (incoming, outgoing) => {
    try {
      const request = await requestOf(incoming, origin, maxBody)
      await writeResponse(outgoing, await handler(request), request.method === 'HEAD')
    } catch (error) {
      const answer = problemOf(error, incoming.method)
      if (answer.status >= 500) onError(error)
      // Half an answer must not look like a whole one.
      if (outgoing.headersSent) outgoing.destroy()
      else write(outgoing, answer)
    }
  }
}

/** @throws HttpProblem */
async function requestOf(
  incoming: IncomingLike,
  origin: string | undefined,
  maxBody: number,
): Promise<Request> {
  const { method = 'GET', rawHeaders } = incoming
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at], rawHeaders[at + 1])
  const url = urlOf(incoming, origin)
  // An answer is stored under the URL: a handler that uses the field must find nothing else in it.
  if (origin !== undefined) headers.set('host', new URL(origin).host)
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers })
  if (method === 'TRACE' || method === 'CONNECT')
    throw new HttpProblem(405, `${method} is not answered here.`)
  const body = await bodyOf(incoming, maxBody)
  return new Request(url, { method, headers, body: body.length > 0 ? body : null })
}

/** @throws HttpProblem */
function urlOf({ url = '/', headers }: IncomingLike, origin: string | undefined): string {
  const host = headers.host ?? ''
  const before = origin ?? `http://${host}`
  // `URL` also looks at the port's size and at addresses.
  if (origin === undefined && !(HOST.test(host) && URL.canParse(before)))
    throw new HttpProblem(400, 'The field Host is not a host with a port or without.')
  // A client of a proxy writes a whole URL; whose host it names is not ours to follow.
  const path = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*(.*)$/i.exec(url)?.[1] ?? url
  return before + (path.startsWith('/') ? path : `/${path}`)
}

/** @throws HttpProblem */
async function bodyOf(incoming: IncomingLike, maxBody: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of incoming) {
    size += chunk.length
    if (size > maxBody)
      throw new HttpProblem(413, `The content may have ${maxBody} bytes.`, { limit: maxBody })
    chunks.push(chunk)
  }
  if (!incoming.complete) throw new HttpProblem(400, 'The content ended before its end.')
  return Buffer.concat(chunks)
}

async function writeResponse(
  outgoing: OutgoingLike,
  response: Response,
  isHead: boolean,
): Promise<void> {
  const list: string[] = []
  for (const [name, value] of response.headers) list.push(name, value)
  outgoing.writeHead(response.status, withThoseBefore(list, outgoing))
  if (response.body === null || isHead) {
    await response.body?.cancel()
    outgoing.end()
    return
  }
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    // The client has gone: leaving the loop cancels the body.
    if (outgoing.destroyed) return
    if (!outgoing.write(chunk)) await drained(outgoing)
  }
  outgoing.end()
}

function drained(outgoing: OutgoingLike): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.once('drain', done)
    outgoing.once('close', done)
  })
}
