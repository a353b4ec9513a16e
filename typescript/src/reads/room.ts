/** Bytes of a buffer that is used again and again. */
const USUAL = 64 * 1024
/** What a large reply needed above this is not held for the next one. */
const MOST = 1024 * 1024

export function room(length: number = USUAL): Buffer {
  return Buffer.allocUnsafeSlow(length)
}

/** What is used next, after this one was. */
export function settled(used: Buffer): Buffer {
  return used.length > MOST ? room() : used
}
