import { asBuffer, type Word } from '../redis-namespace/word.ts'

/** How a read is called on this host: its keys, the shape of its reply, all of its words (`native/src/remote/cached.rs`). */
export function nameOf(keys: readonly Word[], shape: string, words: readonly Word[]): Buffer {
  const count = Buffer.allocUnsafe(2)
  count.writeUInt16LE(keys.length)
  return Buffer.concat([count, ...keys.flatMap(measured), ...[shape, ...words].flatMap(measured)])
}

function measured(word: Word): [Buffer, Buffer] {
  const bytes = typeof word === 'string' ? Buffer.from(word) : asBuffer(word)
  const length = Buffer.allocUnsafe(4)
  length.writeUInt32LE(bytes.length)
  return [length, bytes]
}

/** Calls that `Calls` remembers, and the longest of them. */
const MOST = 1024
const LONGEST = 1024

/**
 * What tells the calls of one method from all others of the same client, without asking the client for its words. The last call of each
 * key is remembered: to make its text anew costs more than all else that a hit does.
 */
export class Calls {
  readonly #method: string
  /** Made when it is first used: most methods of a client never are. */
  #last: Map<unknown, { readonly given: readonly unknown[]; readonly call: string }> | undefined

  constructor(method: string) {
    this.#method = method
  }

  of(given: readonly unknown[]): string {
    const [key] = given
    const last = this.#last?.get(key)
    if (last !== undefined && isSame(last.given, given)) return last.call
    let call = this.#method
    for (const one of given) call += partOf(one)
    // What is no text or number may be another one the next time.
    if (call.length <= LONGEST && given.every(isFixed)) {
      if (this.#last === undefined || this.#last.size >= MOST) this.#last = new Map()
      this.#last.set(key, { given, call })
    }
    return call
  }
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return true
}

function isFixed(one: unknown): boolean {
  return typeof one === 'string' || typeof one === 'number'
}

function partOf(one: unknown): string {
  if (typeof one === 'string') return `s${one.length}:${one}`
  if (typeof one === 'number') return `f${one};`
  if (Array.isArray(one)) return `a${one.length};${one.map(partOf).join('')}`
  if (one instanceof Uint8Array) return `b${one.length}:${asBuffer(one).toString('latin1')}`
  if (typeof one === 'object' && one !== null) {
    const entries = Object.entries(one)
    return `o${entries.length};${entries.map(([key, value]) => partOf(key) + partOf(value)).join('')}`
  }
  return `${typeof one}${String(one)};`
}
