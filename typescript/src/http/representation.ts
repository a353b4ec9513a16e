/** Bytes that are served over HTTP. */
import { InvalidArgument } from '../errors.ts'
import { checkNames } from '../option-names.ts'
import type { Selectable, Selected } from './answer.ts'
import { CODINGS, type Coding, compress } from './codings.ts'
import { Composite, type WithinOptions } from './composite.ts'
import { isCompressed } from './compressed-types.ts'
import { isEntityTag } from './entity-tag.ts'
import { Envelope } from './envelope.ts'
import { jsonOfFields } from './fields-json.ts'
import { grown } from './growth.ts'
import { checkedValue, type Policy, type RespondOptions } from './policy.ts'
import { type Answers, Variant } from './variant.ts'
import { type RequestLike, respondWith } from './web.ts'

/** Options of `Representation`. */
export interface RepresentationOptions {
  /** The media type. Default: `application/json`. */
  readonly contentType?: string
  /**
   * When the bytes were last known to be current, in ms since 1970, for the field Age (RFC 9111 5.1). Default: they are
   * current, so there is no Age.
   */
  readonly storedAt?: number
  /** The entity tag of the bytes, where they have one already. Default: a hash of them. */
  readonly etag?: string
  /** Milliseconds since 1970, for tests. Default: the system's clock. */
  readonly clock?: () => number
}

const OPTIONS: ReadonlySet<string> = new Set<keyof RepresentationOptions>([
  'contentType',
  'storedAt',
  'etag',
  'clock',
])
const WITHIN: ReadonlySet<string> = new Set<keyof WithinOptions>(['incidental'])
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json(?:[ \t]*;|$)/i

/**
 * Bytes that are served over HTTP: encoded once, with a strong entity tag and compressed variants, each made when it is
 * first asked for. One representation serves any number of requests; nobody may change its bytes.
 *
 * ```ts
 * const page = new Representation(Buffer.from('[1,2,3]'))
 * Bun.serve({ fetch: (request) => page.respond(request) })
 * ```
 */
export class Representation implements Selectable {
  /** The media type, as `application/json`. */
  readonly contentType: string
  /** When the bytes were last known to be current, in ms since 1970; undefined where they are. */
  readonly storedAt: number | undefined
  readonly #identity: Variant
  readonly #variants: Map<Coding, Variant | Promise<Variant>> = new Map()
  readonly #clock: () => number
  #envelope: Envelope | undefined
  #isCompressed: boolean | undefined

  /** @throws InvalidArgument */
  constructor(bytes: Uint8Array, options: RepresentationOptions = {}) {
    if (!(bytes instanceof Uint8Array)) throw new InvalidArgument('bytes are a Uint8Array')
    checkNames(options, OPTIONS)
    const { contentType = 'application/json', storedAt, etag, clock = Date.now } = options
    if (storedAt !== undefined && !Number.isFinite(storedAt))
      throw new InvalidArgument('storedAt is a number of ms since 1970')
    this.contentType = checkedValue('content-type', contentType)
    this.storedAt = storedAt
    if (etag !== undefined && !isEntityTag(etag))
      throw new InvalidArgument(`${etag} is no entity tag: write '"v1"' with the quotes`)
    this.#clock = clock
    this.#identity = new Variant(bytes, 'identity', contentType, etag)
  }

  /** The bytes, without a content coding. */
  get bytes(): Uint8Array {
    return this.#identity.bytes
  }

  /** Number of bytes. */
  get size(): number {
    return this.#identity.bytes.length
  }

  /** Number of bytes that it holds, with the variants that were made and what documents around it have in common. */
  get held(): number {
    const made = [...this.#variants.values()]
    return made.reduce(
      (sum, one) => sum + (one instanceof Variant ? one.bytes.length : 0),
      this.size + (this.#envelope?.held ?? 0),
    )
  }

  /** Whether the media type is one whose bytes are compressed already. */
  get isCompressed(): boolean {
    this.#isCompressed ??= isCompressed(this.contentType)
    return this.#isCompressed
  }

  /** The entity tag of the bytes, a strong one unless you gave another (RFC 9110 8.8.3). A compressed variant has another one. */
  get etag(): string {
    return this.#identity.etag
  }

  /** All that the policy has. */
  codings({ codings }: Policy): readonly Coding[] {
    return codings
  }

  /** The bytes as text. */
  text(): string {
    return this.#identity.bytes.toString()
  }

  /**
   * The bytes in a content coding: at once if they were made before. Callers that ask meanwhile share the work, which
   * a thread of the run time's pool does.
   * @throws InvalidArgument for a coding that this run time cannot make
   */
  encoded(coding: Coding): Uint8Array | Promise<Uint8Array> {
    const variant = this.#variant(coding)
    return variant instanceof Promise ? variant.then(({ bytes }) => bytes) : variant.bytes
  }

  /**
   * A JSON document with these bytes, which are JSON themselves, as its first member and with fields of your own:
   * `{"value":<bytes>,"start":1,"end":2}`. The bytes are neither parsed nor encoded again.
   * @throws InvalidArgument for a representation that is not JSON, or where a field has the same name
   */
  within(name: string, fields: object = {}, options: WithinOptions = {}): Composite {
    checkNames(options, WITHIN)
    if (this.#envelope?.name !== name) {
      if (!JSON_TYPE.test(this.contentType))
        throw new InvalidArgument(`only JSON has fields around it, and this is ${this.contentType}`)
      this.#envelope = new Envelope(name, this.bytes, () => grown(this))
      grown(this)
    }
    if (Object.hasOwn(fields, name))
      throw new InvalidArgument(`${name} is the name of the value; a field needs another one`)
    const text = jsonOfFields(fields)
    if (text?.[0] !== '{') throw new InvalidArgument('fields are an object')
    const tail = text === '{}' ? '}' : `,${text.slice(1)}`
    return new Composite(this, this.#envelope, tail, options.incidental === true)
  }

  /**
   * The answer to a request: 200, 304, 405, 406 or 412, by GET, HEAD, If-Match, If-None-Match and Accept-Encoding. It
   * is there at once, unless the variant that is asked for is made first.
   * @throws InvalidArgument for an unknown option
   */
  respond(request: RequestLike, options?: RespondOptions): Response | Promise<Response> {
    return respondWith(this, request, options)
  }

  /** What `answer` asks for. */
  select(coding: Coding | 'identity', policy: Policy): Selected | Promise<Selected> {
    if (coding === 'identity') return this.answers(policy)
    const variant = this.#variant(coding)
    return variant instanceof Promise
      ? variant.then((made) => made.answers(policy, this.#age()))
      : variant.answers(policy, this.#age())
  }

  /** The answers with the bytes as they are. */
  answers(policy: Policy): Answers {
    return this.#identity.answers(policy, this.#age())
  }

  /** In whole seconds; -1 for what is current. A clock that was set back makes nothing younger than 0. */
  #age(): number {
    if (this.storedAt === undefined) return -1
    return Math.max(0, Math.floor((this.#clock() - this.storedAt) / 1000))
  }

  #variant(coding: Coding): Variant | Promise<Variant> {
    const known = this.#variants.get(coding)
    if (known !== undefined) return known
    if (!CODINGS.includes(coding))
      throw new InvalidArgument(`this run time makes ${CODINGS.join(', ')}, and not ${coding}`)
    const making = compress(this.bytes, coding).then((bytes) => {
      const variant = new Variant(bytes, coding, this.contentType)
      this.#variants.set(coding, variant)
      grown(this)
      return variant
    })
    // The next caller tries again.
    making.catch(() => this.#variants.delete(coding))
    this.#variants.set(coding, making)
    return making
  }
}
