import { InvalidKey } from '../errors.ts'
import type { Key } from '../key.ts'

/** Begins the name of a key that is not text: half a surrogate pair, which begins no text key. */
const BYTES = '\udc00'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * A text that is equal for equal keys only: text and its UTF-8 bytes are one key. The caller checks that text is
 * well-formed, as long as only well-formed text was stored.
 * @throws InvalidKey for what is neither text nor bytes
 */
export function nameOf(key: Key): string {
  if (typeof key === 'string') {
    if (key.charCodeAt(0) !== 0xdc00) return key
    throw new InvalidKey('the key begins with half a surrogate pair, which has no UTF-8 form')
  }
  if (!(key instanceof Uint8Array)) {
    throw new InvalidKey(
      `a key is a string or a Uint8Array, not ${key === null ? 'null' : typeof key}`,
    )
  }
  try {
    return utf8.decode(key)
  } catch {
    return BYTES + Buffer.from(key).toString('latin1')
  }
}

/** Whether a name is that of a key that is not text. */
export function isBytes(name: string): boolean {
  return name.charCodeAt(0) === 0xdc00
}

/** The key of a name: text, or bytes that are not UTF-8. */
export function keyOf(name: string): Key {
  return isBytes(name) ? Uint8Array.from(bytesOf(name)) : name
}

/** A key's bytes. */
export function bytesOf(name: string): Buffer {
  return isBytes(name) ? Buffer.from(name.slice(1), 'latin1') : Buffer.from(name)
}
