/** How many characters at either end of longer keys are used. */
const END = 32

/** What is told of keys that have no hash: two of them are never taken for the same. */
export const NO_HASH = 0

/**
 * 32 bits of a key, never 0; 0 for objects and symbols, which have none. Only the policy uses it, to remember keys that
 * have left: two keys with one hash may cost a hit, and never give a wrong one.
 */
export function hashOf(key: unknown): number {
  if (typeof key === 'string') return ofText(key)
  if (typeof key === 'number') return ofText(String(key))
  return typeof key === 'bigint' ? ofText(`${key}n`) : NO_HASH
}

/** FNV-1a over UTF-16 (Fowler, Noll, Vo; RFC 9923), its bits mixed once more: those at the bottom choose a bucket. */
function ofText(text: string): number {
  const { length } = text
  let hash = 0x811c9dc5 ^ length
  if (length <= 2 * END) {
    for (let at = 0; at < length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  } else {
    for (let at = 0; at < END; at++) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
      hash = Math.imul(hash ^ text.charCodeAt(length - 1 - at), 0x01000193)
    }
  }
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) | 0 || 1
}
