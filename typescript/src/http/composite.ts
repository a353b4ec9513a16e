/** A small JSON document around a value, put together without touching the value's bytes. */
import type { Selectable, Selected } from './answer.ts'
import { weak } from './entity-tag.ts'
import { type Frame, Pieces } from './frame.ts'
import type { Policy, RespondOptions } from './policy.ts'
import type { Representation } from './representation.ts'
import { type RequestLike, respondWith } from './web.ts'

/** Options of `within`. */
export interface WithinOptions {
  /**
   * The fields do not matter to who has the value already, as times of reading it. Then the document has the value's tag
   * as a weak one, and a client that has the value gets 304. Default: false; the document has no tag.
   */
  readonly incidental?: boolean
}

/** `{"value":<bytes>,...}`: what `Representation.within` makes. */
export class Composite implements Selectable {
  readonly #of: Representation
  readonly #pieces: Pieces
  readonly #incidental: boolean

  /** Made by `Representation.within`. */
  constructor(of: Representation, frame: Frame, tail: string, incidental: boolean) {
    this.#of = of
    this.#pieces = new Pieces(frame, tail)
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

  /** A document that differs each time is not compressed. */
  get codable(): boolean {
    return false
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

  /** What `answer` asks for. */
  select(_coding: unknown, policy: Policy): Selected {
    const { around, incidental } = this.#of.answers(policy)
    const { etag, fields, notModified } = this.#incidental ? incidental : around
    const length = this.#pieces.length
    return {
      etag,
      full: { status: 200, fields, length, body: this.#pieces },
      head: { status: 200, fields, length, body: undefined },
      notModified,
    }
  }
}
