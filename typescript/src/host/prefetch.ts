import type { Key } from '../key.ts'
import type { LoadedInto } from './load.ts'
import { guarded } from './native.ts'

/** Keys for one native call, each behind its length in four bytes. */
const packed = new Uint8Array(4096)

/**
 * Has the processor fetch what reads of these keys will touch, so that they do not wait for memory one after the other. Only a
 * hint: keys that have no room are left out, and so are those behind one that is not a key, which its read refuses.
 */
export function prefetch(
  into: LoadedInto,
  keys: readonly Key[],
  isInMemory: (key: Key) => boolean,
): void {
  let length = 0
  for (const key of keys) {
    if (isInMemory(key)) continue
    try {
      length = pack(into, key, length)
    } catch {
      break
    }
  }
  if (length > 0) guarded(() => into.calls.prefetch(into.number, packed, length))
}

/** Appends a key; returns where the next one goes. */
function pack({ begin }: LoadedInto, key: Key, at: number): number {
  const { bytes, from, to } = begin(key)
  const size = to - from
  const end = at + 4 + size
  if (end > packed.length) return at
  packed[at] = size
  packed[at + 1] = size >>> 8
  packed[at + 2] = packed[at + 3] = 0
  // Usual keys are short: `set` would need a view of them.
  for (let place = at + 4, read = from; read < to; place++, read++) packed[place] = bytes[read]
  return end
}
