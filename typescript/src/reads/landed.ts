import { Representation } from '../http/representation.ts'
import { jsonOf } from './json.ts'
import type { KeptReplies } from './kept.ts'
import { jsonOfPacked, unpack } from './packed.ts'
import type { Plan } from './plan.ts'

/** What a read brought, which all its callers share. What they want of it is made once, and only what is wanted. */
export class Landed {
  /** How the read is called among what this host keeps. */
  readonly name: Buffer
  /** The reply's bytes; undefined where it has none, or nobody needs them. */
  readonly packed: Buffer | undefined
  /** Whether its text is that of a JSON document. */
  readonly isDocument: boolean
  #reply: unknown
  #hasReply: boolean
  #isolated: { readonly kept: unknown } | undefined
  #representation: Representation | undefined

  private constructor(
    name: Buffer,
    { isDocument }: Plan,
    packed: Buffer | undefined,
    reply: unknown,
    hasReply: boolean,
  ) {
    this.name = name
    this.isDocument = isDocument
    this.packed = packed
    this.#reply = reply
    this.#hasReply = hasReply
  }

  /** A reply that the client gave, and its bytes, which it has for itself. */
  static sent(name: Buffer, plan: Plan, reply: unknown, packed?: Buffer): Landed {
    return new Landed(name, plan, packed, reply, true)
  }

  /** A reply that this host had. */
  static near(name: Buffer, plan: Plan, packed: Buffer): Landed {
    return new Landed(name, plan, packed, undefined, false)
  }

  /** Whether nobody has asked for the reply itself yet. */
  get isUnasked(): boolean {
    return this.#isolated === undefined
  }

  /** What every caller gets of the reply, as `KeptReplies` isolates it. */
  isolated(replies: KeptReplies): unknown {
    this.#isolated ??= {
      kept: replies.isolate(this.#value(), this.packed),
    }
    return this.#isolated.kept
  }

  /** The reply's JSON. It is made of the bytes where a caller may have changed the reply. */
  representation(isShared: boolean): Representation {
    if (this.#representation === undefined) {
      const { packed } = this
      const isChangeable = isShared && !this.isUnasked && packed !== undefined
      const json = packed && jsonOfPacked(packed)
      this.#representation = new Representation(
        json ?? jsonOf(isChangeable ? unpack(packed) : this.#value(), this.isDocument),
      )
    }
    return this.#representation
  }

  #value(): unknown {
    if (!this.#hasReply && this.packed !== undefined) {
      this.#reply = unpack(this.packed)
      this.#hasReply = true
    }
    return this.#reply
  }
}
