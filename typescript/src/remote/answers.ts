import { Scratch } from '../entry/scratch.ts'
import { typed } from '../host/native.ts'

/** A ticket for what a call of the native part brings later: a `T`. */
export type Asked<T> = number & { readonly brings?: T }

/** The callbacks of `native/src/sockets.rs` for answers. */
export interface AnswerOperations {
  answersNext(numbers: Float64Array, room: Uint8Array): number
  answersTake(ticket: number): unknown
}

/** Makes something of bytes, which are there until it returns. It runs none of the program's code. */
export type Use<T> = (room: Scratch, from: number, to: number) => T

/** How an answer is told: see `native/src/mailbox.rs`. */
const NOTHING = 0
const FALSE = 1
const TRUE = 2
const NUMBER = 3
const BYTES = 4

/** Numbers for each answer, and answers that are told at once. */
const EACH = 3
const MOST = 64
/** Bytes of all answers that are told at once; a larger one comes by itself. */
const ROOM = 65_536

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (failure: unknown) => void
  readonly use: Use<unknown> | undefined
}

/** Those who wait, by their tickets. */
const waiting: (Waiting | undefined)[] = []

/** Sees to it that answers are asked for, once the running code is through. */
let soon: () => void = () => {}

/** What the native part tells of answers. */
export class Answers {
  readonly numbers: Float64Array = new Float64Array(EACH * MOST)
  readonly room: Scratch = new Scratch()
  readonly #native: AnswerOperations

  constructor(native: AnswerOperations, asksSoon: () => void) {
    this.#native = native
    this.room.reserve(ROOM)
    soon = asksSoon
  }

  /** Hands out so many answers that were told. */
  hand(count: number): void {
    const { numbers } = this
    let from = 0
    for (let at = 0; at < count * EACH; at += EACH) {
      const ticket = numbers[at]
      const kind = numbers[at + 1]
      const value = numbers[at + 2]
      const to = kind === BYTES ? from + value : from
      const one = waiting[ticket]
      if (one !== undefined) {
        waiting[ticket] = undefined
        try {
          one.resolve(this.#answer(ticket, kind, value, one.use, from, to))
        } catch (failure) {
          one.reject(failure)
        }
      }
      from = to
    }
  }

  #answer(
    ticket: number,
    kind: number,
    value: number,
    use: Use<unknown> | undefined,
    from: number,
    to: number,
  ): unknown {
    if (kind === NOTHING) return undefined
    if (kind === FALSE) return false
    if (kind === TRUE) return true
    if (kind === NUMBER) return value
    if (kind === BYTES) {
      if (use !== undefined) return use(this.room, from, to)
      return this.room.bytes.slice(from, to).buffer
    }
    const other = this.#take(ticket)
    if (use === undefined || !(other instanceof ArrayBuffer)) return other
    const room = new Scratch()
    room.reserve(other.byteLength)
    room.bytes.set(new Uint8Array(other))
    return use(room, 0, other.byteLength)
  }

  #take(ticket: number): unknown {
    try {
      return this.#native.answersTake(ticket)
    } catch (failure) {
      throw typed(failure)
    }
  }
}

/**
 * What a call of the native part brings.
 * @throws the typed error of what it failed with
 */
export function asked<T>(ticket: Asked<T>): Promise<T> {
  return promise(ticket, undefined) as Promise<T>
}

/** The same of a call that brings bytes, if there are any: what is made of them. */
export function used<T>(
  ticket: Asked<ArrayBuffer | undefined>,
  use: Use<T>,
): Promise<T | undefined> {
  return promise(ticket, use) as Promise<T | undefined>
}

function promise(ticket: number, use: Use<unknown> | undefined): Promise<unknown> {
  soon()
  return new Promise((resolve, reject) => {
    waiting[ticket] = { resolve, reject, use }
  })
}
