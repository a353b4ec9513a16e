/** A representation in one content coding, with the answers that are made of it. */
import type { Answer, Selected } from './answer.ts'
import type { Coding } from './codings.ts'
import { entityTag, weak } from './entity-tag.ts'
import { Fields } from './fields.ts'
import type { Policy } from './policy.ts'

/** The answers to a client that accepts the variant, and what answers with more bytes around it are made of. */
export interface Answers extends Selected {
  /** Of a document around it that has no tag. */
  readonly around: Around
  /** Of a document around it that has its tag as a weak one. */
  readonly incidental: Around
}

/** What answers with a document around the variant have in common. */
export interface Around {
  readonly etag: string | undefined
  /** All but the length. */
  readonly fields: Fields
  readonly notModified: Answer
}

/** The bytes of a representation in one content coding. */
export class Variant {
  /** A Buffer, because Fastify takes nothing else. */
  readonly bytes: Buffer
  readonly coding: Coding | 'identity'
  readonly contentType: string
  #etag: string | undefined
  #answers: Answers | undefined
  /** What `#answers` is for. */
  #policy: Policy | undefined
  #age = -1

  constructor(bytes: Uint8Array, coding: Coding | 'identity', contentType: string, etag?: string) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.coding = coding
    this.contentType = contentType
    this.#etag = etag
  }

  /** A hash of these very bytes, so each variant has its own (RFC 9110 8.8.3.3). */
  get etag(): string {
    this.#etag ??= entityTag(this.bytes)
    return this.#etag
  }

  /**
   * The answers by a policy. The last ones are kept, for a server has one policy for a value.
   * @param age seconds since the bytes were current; -1 if they are
   */
  answers(policy: Policy, age: number): Answers {
    if (this.#answers === undefined || this.#policy !== policy || this.#age !== age) {
      this.#answers = this.#make(policy, age)
      this.#policy = policy
      this.#age = age
    }
    return this.#answers
  }

  #make(policy: Policy, age: number): Answers {
    const aged = age < 0 ? policy.always : [...policy.always, 'age', String(age)]
    const type = this.contentType === '' ? [] : ['content-type', this.contentType]
    const encoding = this.coding === 'identity' ? [] : ['content-encoding', this.coding]
    const described = [...type, ...encoding, ...aged]
    const tag = ['etag', this.etag]
    const length = ['content-length', String(this.bytes.length)]
    const fields = new Fields([...described, ...tag, ...length])
    const around = (...more: string[]): Around => ({
      etag: more[1],
      fields: new Fields([...described, ...more]),
      notModified: unmodified([...aged, ...more]),
    })
    return {
      etag: this.etag,
      full: { status: 200, fields, body: this.bytes },
      head: { status: 200, fields, body: undefined },
      notModified: unmodified([...aged, ...tag]),
      around: around(),
      incidental: around('etag', weak(this.etag)),
    }
  }
}

function unmodified(list: readonly string[]): Answer {
  return { status: 304, fields: new Fields(list), body: undefined }
}
