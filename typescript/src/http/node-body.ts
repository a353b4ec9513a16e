/** Bodies of requests under node:http, which are read to their end within a limit. */
import { InvalidArgument } from '../errors.ts'
import { HttpProblem } from './problem.ts'

/** What is asked of a request of node:http for its body. */
export interface IncomingContent extends AsyncIterable<Uint8Array> {
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly complete: boolean
  /** Whether somebody else has begun to read. */
  readonly readableDidRead?: boolean
  /** What a body parser made of it. */
  readonly body?: unknown
  /** The bytes, where a body parser was told to keep them. */
  readonly rawBody?: unknown
}

/** Most bytes and milliseconds that are spent on what a client still sends when its answer is there. */
const LINGER = { bytes: 2 ** 25, ms: 5000 }

/** The body of one request. */
export class IncomingBody {
  readonly #incoming: IncomingContent
  #chunks: AsyncIterator<Uint8Array> | undefined

  constructor(incoming: IncomingContent) {
    this.#incoming = incoming
  }

  /**
   * The whole body; undefined where it is larger than `limit`. Nothing is ended then, so that the client can be answered.
   * @throws HttpProblem if it ended early, InvalidArgument if somebody else has read it
   */
  async read(limit: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { headers, readableDidRead } = this.#incoming
    if (readableDidRead === true) {
      const kept = keptBytes(this.#incoming)
      return kept.length > limit ? undefined : kept
    }
    if (Number(headers['content-length']) > limit) return undefined
    const chunks: Uint8Array[] = []
    let size = 0
    for (;;) {
      const chunk = await this.#next()
      if (chunk === undefined) return Buffer.concat(chunks)
      size += chunk.length
      if (size > limit) return undefined
      chunks.push(chunk)
    }
  }

  /**
   * Reads what is still to come, as much as is reasonable, and forgets it: closing a connection on bytes that nobody has read
   * resets it, and the client may lose the answer (RFC 9112 9.6).
   * @param giveUp ends the connection
   */
  async drain(giveUp: () => void): Promise<void> {
    const timer = setTimeout(giveUp, LINGER.ms).unref()
    try {
      for (let left = LINGER.bytes; left > 0; ) {
        const chunk = await this.#next()
        if (chunk === undefined) return
        left -= chunk.length
      }
    } catch {
      // It ended early, and nobody is there to be told.
    } finally {
      clearTimeout(timer)
    }
  }

  /** @throws HttpProblem */
  async #next(): Promise<Uint8Array | undefined> {
    // Leaving a `for await` would end the connection.
    this.#chunks ??= this.#incoming[Symbol.asyncIterator]()
    let cause: unknown
    try {
      const { done, value } = await this.#chunks.next()
      if (done !== true) return value
    } catch (error) {
      cause = error
    }
    if (cause === undefined && this.#incoming.complete) return undefined
    throw new HttpProblem(400, 'The content ended before its end.', {}, { cause })
  }
}

/** The bytes of a body that was read before. @throws InvalidArgument */
function keptBytes({ headers, body, rawBody }: IncomingContent): Uint8Array<ArrayBuffer> {
  const { 'content-encoding': coding = 'identity', 'content-length': length = 0 } = headers
  // Parsers decode what they keep, or not: nobody can tell.
  if (coding === 'identity') {
    if (rawBody instanceof Uint8Array) return rawBody as Uint8Array<ArrayBuffer>
    if (body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>
  }
  if (headers['transfer-encoding'] === undefined && Number(length) === 0) return Buffer.alloc(0)
  throw new InvalidArgument(
    'the body of the request was read before nodeHandler, as express.json() does: mount nodeHandler before the parser, ' +
      'or let the parser keep the bytes, with no content coding, as req.rawBody',
  )
}
