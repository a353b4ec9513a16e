/** A handler of the Web's Request under node:http, Express or Connect. */
import { InvalidArgument } from '../errors.ts'
import { checkNames } from '../option-names.ts'
import { bytes } from '../size.ts'
import { type Before, withThoseBefore } from './fields-before.ts'
import { write } from './node.ts'
import { IncomingBody, type IncomingContent } from './node-body.ts'
import { HttpProblem, problemAnswer, problemOf } from './problem.ts'
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
export interface IncomingLike extends IncomingContent {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly rawHeaders: readonly string[]
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
    const left = new AbortController()
    const leave = () => left.abort()
    if (outgoing.destroyed) leave()
    outgoing.once('close', leave)
    const body = new IncomingBody(incoming)
    try {
      const request = await requestOf(incoming, body, { origin, maxBody, signal: left.signal })
      if (request === undefined) await refuseLarge(outgoing, body, maxBody)
      else await writeResponse(outgoing, await handler(request), request, onError)
    } catch (error) {
      const answer = problemOf(error, incoming.method)
      // A handler that stops because nobody waits for it has not failed.
      const isLeft = left.signal.aborted && (error as Error | undefined)?.name === 'AbortError'
      if (answer.status >= 500 && !isLeft) onError(error)
      // Half an answer must not look like a whole one.
      if (outgoing.headersSent) outgoing.destroy()
      else write(outgoing, answer)
    } finally {
      outgoing.off('close', leave)
    }
  }
}

/** The request; undefined where its body is too large. @throws HttpProblem */
async function requestOf(
  incoming: IncomingLike,
  content: IncomingBody,
  options: { origin: string | undefined; maxBody: number; signal: AbortSignal },
): Promise<Request | undefined> {
  const { method = 'GET', rawHeaders } = incoming
  const { origin, maxBody, signal } = options
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at], rawHeaders[at + 1])
  const url = urlOf(incoming, origin)
  // An answer is stored under the URL: a handler that uses the field must find nothing else in it.
  if (origin !== undefined) headers.set('host', new URL(origin).host)
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers, signal })
  if (method === 'TRACE' || method === 'CONNECT')
    throw new HttpProblem(405, `${method} is not answered here.`)
  const body = await content.read(maxBody)
  if (body === undefined) return undefined
  return new Request(url, { method, headers, signal, body: body.length > 0 ? body : null })
}

/** @throws HttpProblem */
function urlOf({ url = '/', headers }: IncomingLike, origin: string | undefined): string {
  const { host = '' } = headers as { host?: string }
  const before = origin ?? `http://${host}`
  // `URL` also looks at the port's size and at addresses.
  if (origin === undefined && !(HOST.test(host) && URL.canParse(before)))
    throw new HttpProblem(400, 'The field Host is not a host with a port or without.')
  // A client of a proxy writes a whole URL; whose host it names is not ours to follow.
  const path = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*(.*)$/i.exec(url)?.[1] ?? url
  return before + (path.startsWith('/') ? path : `/${path}`)
}

/** Answers 413, and ends the connection when the client has had time to read that. */
async function refuseLarge(
  outgoing: OutgoingLike,
  content: IncomingBody,
  maxBody: number,
): Promise<void> {
  const members = { limit: maxBody }
  const detail = `The content may have ${maxBody} bytes.`
  const { status, fields, body } = problemAnswer(413, 'POST', detail, members)
  outgoing.writeHead(status, withThoseBefore([...fields.list, 'connection', 'close'], outgoing))
  outgoing.write(body as Uint8Array)
  await content.drain(() => outgoing.destroy())
  outgoing.end()
}

async function writeResponse(
  outgoing: OutgoingLike,
  response: Response,
  { method, signal }: Request,
  onError: (error: unknown) => void,
): Promise<void> {
  const isDone = method === 'HEAD' || signal.aborted
  if (isDone) await response.body?.cancel()
  if (signal.aborted) return
  const reader = isDone ? undefined : response.body?.getReader()
  const list: string[] = []
  for (const [name, value] of response.headers) list.push(name, value)
  outgoing.writeHead(response.status, withThoseBefore(list, outgoing))
  if (reader !== undefined) {
    // Ends the read that is waited for, too.
    const cancel = () => void reader.cancel(signal.reason).catch(onError)
    signal.addEventListener('abort', cancel)
    for (;;) {
      const { done, value } = await reader.read()
      if (signal.aborted) return
      if (done) break
      if (!outgoing.write(value)) await drained(outgoing)
    }
    signal.removeEventListener('abort', cancel)
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
