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

  /** Undefined where the arguments themselves do not say what is sent: then the words do. */
  of(given: readonly unknown[]): string | undefined {
    const [key] = given
    const last = this.#last?.get(key)
    if (last !== undefined && isSame(last.given, given)) return last.call
    if (!given.every(isPlain)) return undefined
    let call = this.#method
    for (const one of given) call += partOf(one)
    // What is no text or number may be another one the next time.
    if (call.length <= LONGEST && given.every(isFixed)) {
      if (this.#last === undefined || this.#last.size >= MOST) this.#last = new Map()
      this.#last.set(key, { given, call })
    }
    return call
  }

  ofWords(words: readonly Word[]): string {
    return `${this.#method} words${words.map(partOf).join('')}`
  }
}

/** The same call in a namespace of the moment. */
export function within(space: string, call: string): string {
  return `${space.length}:${space}${call}`
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return true
}

function isFixed(one: unknown): boolean {
  return typeof one === 'string' || typeof one === 'number'
}

/** Whether `partOf` tells it from all else that a client may send: of other objects it knows nothing but their text. */
function isPlain(one: unknown): boolean {
  if (typeof one === 'function' || typeof one === 'symbol') return false
  if (typeof one !== 'object' || one === null) return true
  // Not `every`, which passes over holes.
  if (Array.isArray(one)) return Array.from(one).every(isPlain)
  const prototype: unknown = Object.getPrototypeOf(one)
  if (ArrayBuffer.isView(one)) return prototype === Buffer.prototype || prototype === BYTES
  if (prototype !== null && prototype !== Object.prototype) return false
  const values = Object.values(one)
  return values.length === Reflect.ownKeys(one).length && values.every(isPlain)
}

const BYTES: unknown = Uint8Array.prototype

function partOf(one: unknown): string {
  if (typeof one === 'string') return `s${one.length}:${one}`
  if (typeof one === 'number') return `f${one};`
  if (Array.isArray(one)) return `a${one.length};${Array.from(one, partOf).join('')}`
  if (one instanceof Uint8Array) {
    // ioredis sends the bytes of a Buffer, and the numbers of any other.
    const letter = Buffer.isBuffer(one) ? 'b' : 'u'
    return `${letter}${one.length}:${asBuffer(one).toString('latin1')}`
  }
  if (typeof one === 'object' && one !== null) {
    const entries = Object.entries(one)
    return `o${entries.length};${entries.map(([key, value]) => partOf(key) + partOf(value)).join('')}`
  }
  return `${typeof one}${String(one)};`
}
