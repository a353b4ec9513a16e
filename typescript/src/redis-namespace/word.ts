/** Words of a command, and text or bytes in a reply. Bytes stay bytes: a key need not be UTF-8. */
export type Word = string | Uint8Array

const ASCII = /^[\0-\x7f]*$/

export function isWord(value: unknown): value is Word {
  return typeof value === 'string' || value instanceof Uint8Array
}

/** Bytes as a Buffer on the same memory. */
export function asBuffer(bytes: Uint8Array): Buffer {
  if (Buffer.isBuffer(bytes)) return bytes
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Text in which each character is a byte, to compare and to cut; the bytes of text are its UTF-8. */
export function asLatin1(word: Word): string {
  if (typeof word !== 'string') return asBuffer(word).toString('latin1')
  return ASCII.test(word) ? word : Buffer.from(word).toString('latin1')
}

/** The word in upper case, as servers compare names: other letters than ASCII's stay as they are. */
export function upper(word: Word): string {
  const text = typeof word === 'string' ? word : asBuffer(word).toString('latin1')
  return ASCII.test(text) ? text.toUpperCase() : text
}
