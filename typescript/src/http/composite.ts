/** A small JSON document around a value, put together without touching the value's bytes. */
import type { Answer, Selectable, Selected } from './answer.ts'
import type { Coding } from './codings.ts'
import { weak } from './entity-tag.ts'
import type { Envelope } from './envelope.ts'
import { Pieces } from './frame.ts'
import { FRAMES_GZIP } from './gzip-frame.ts'
import type { Policy, RespondOptions } from './policy.ts'
import type { Representation } from './representation.ts'
import type { Around } from './variant.ts'
import { type RequestLike, respondWith } from './web.ts'

/** Options of `within`. */
export interface WithinOptions {
  /**
   * The fields do not matter to a client that has the value already, as times of reading it. Then the document has the value's tag
   * as a weak one, and a client that has the value gets 304. Default: false; the document has no tag.
   */
  readonly incidental?: boolean
}

const GZIP: readonly Coding[] = FRAMES_GZIP ? ['gzip'] : []
const NONE: readonly Coding[] = []

/** `{"value":<bytes>,...}`: what `Representation.within` makes. */
export class Composite implements Selectable {
  /** It is JSON. */
  readonly isCompressed = false
  readonly #of: Representation
  readonly #envelope: Envelope
  readonly #tail: string
  readonly #pieces: Pieces
  readonly #incidental: boolean

  /** Made by `Representation.within`. */
  constructor(of: Representation, envelope: Envelope, tail: string, incidental: boolean) {
    this.#of = of
    this.#envelope = envelope
    this.#tail = tail
    this.#pieces = new Pieces(envelope.plain, tail)
    this.#incidental = incidental
  }

  /** The document's bytes, joined anew at each call. */
  get bytes(): Uint8Array {
    return this.#pieces.copy()
  }

  /** Number of its bytes. */
  get size(): number {
    return this.#pieces.length
  }

  /** gzip, which allows a value that was compressed before among text that was not. */
  codings({ codings }: Policy): readonly Coding[] {
    return codings.includes('gzip') ? GZIP : NONE
  }

  /** The weak tag of the value where the fields are incidental, else undefined. */
  get etag(): string | undefined {
    return this.#incidental ? weak(this.#of.etag) : undefined
  }

  /** The document. */
  text(): string {
    return this.#pieces.copy().toString()
  }

  /** As `Representation.respond`. */
  respond(request: RequestLike, options?: RespondOptions): Response | Promise<Response> {
    return respondWith(this, request, options)
  }

  /** What `answer` asks for. The tag is the value's, so what a client has is known before anything is compressed. */
  select(coding: Coding | 'identity', policy: Policy): Selected {
    const isGzip = coding !== 'identity'
    const around = this.#of.answers(policy).around(this.#incidental, isGzip)
    const { etag, notModified } = around
    if (!isGzip) {
      return {
        etag,
        full: answerWith(around, this.#pieces, false),
        head: answerWith(around, this.#pieces, true),
        notModified,
      }
    }
    const inGzip = (isHead: boolean) => this.#gzip((body) => answerWith(around, body, isHead))
    return {
      etag,
      notModified,
      get full() {
        return inGzip(false)
      },
      get head() {
        return inGzip(true)
      },
    }
  }

  #gzip(use: (body: Pieces) => Answer): Answer | Promise<Answer> {
    const { gzip } = this.#envelope
    return gzip instanceof Promise
      ? gzip.then((frame) => use(frame.with(this.#tail)))
      : use(gzip.with(this.#tail))
  }
}

function answerWith({ fields }: Around, body: Pieces, isHead: boolean): Answer {
  return { status: 200, fields, length: body.length, body: isHead ? undefined : body }
}
