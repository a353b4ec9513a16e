/** What an entry takes beside key and value: its places in the columns and in the index. */
const ENTRY = 96
/** A string without its characters, and what a key of another kind is taken for. */
const STRING = 24

/** Bytes of a key, and of an entry without its value. */
export function weighKey(key: unknown): number {
  return typeof key === 'string' ? ENTRY + STRING + 2 * key.length : ENTRY + STRING
}
