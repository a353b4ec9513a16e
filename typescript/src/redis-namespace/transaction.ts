import type { TakeOff } from './session.ts'
import { asLatin1, isWord } from './word.ts'

/** A command that was sent since MULTI. */
interface Queued {
  readonly takeOff: TakeOff
  /** The server has not queued it, or has forgotten it. */
  gone: boolean
}

/**
 * What a connection has sent since MULTI, because the replies come with EXEC. Commands are sent before
 * the replies to earlier ones are here; so it notes what is sent, and what the replies say of it.
 */
export class Transaction {
  /** That it belongs to: it ends with it. */
  readonly connection: unknown
  readonly #queued: Queued[] = []
  /** How many commands were sent, MULTI among them. */
  #sent = 0

  constructor(connection: unknown) {
    this.connection = connection
  }

  /** MULTI was sent. When the server agrees, nothing was open before: within a transaction it refuses. */
  begun(): TakeOff {
    this.#sent++
    const before = this.#queued.length
    return (reply) => {
      this.#forget(before)
      return reply
    }
  }

  /**
   * A command was sent.
   *
   * @param over the server has carried it out, so there is no transaction, nor was one begun since
   */
  queue(takeOff: TakeOff, over?: () => void): TakeOff {
    const sent = ++this.#sent
    const entry = { takeOff, gone: false }
    const count = this.#queued.push(entry)
    return (reply) => {
      if (isQueued(reply)) return reply
      this.#forget(count)
      if (this.#sent === sent) over?.()
      return takeOff(reply)
    }
  }

  /** The reply of EXEC, each of whose parts is treated as its command's. */
  executed(reply: unknown): unknown {
    const queued = this.#queued.filter((one) => !one.gone)
    if (!Array.isArray(reply) || reply.length !== queued.length) return reply
    return reply.map((one, at) => queued[at].takeOff(one))
  }

  #forget(count: number): void {
    for (const one of this.#queued.slice(0, count)) one.gone = true
  }
}

function isQueued(reply: unknown): boolean {
  return isWord(reply) && reply.length === 6 && asLatin1(reply) === 'QUEUED'
}
