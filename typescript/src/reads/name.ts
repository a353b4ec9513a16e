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

/** What tells a call from all others of the same client, without asking the client for its words. */
export function callOf(method: string, given: readonly unknown[]): string {
  let call = method
  for (const one of given) call += partOf(one)
  return call
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
