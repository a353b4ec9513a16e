import type { AnyNamespace } from './any-namespace.ts'
import type { Key } from './key.ts'

/** Keys that are prepared at once: enough to hide the wait for memory, few enough for the processor's first cache. */
const AT_ONCE = 32
/** What shorter lists touch is often in the processor's caches, and then preparing takes longer than it saves. */
const LONG = 1000

/** The values of the keys that have one, by key, in the order of the keys. */
export function getMany<T, K extends Key>(namespace: AnyNamespace, keys: Iterable<K>): Map<K, T> {
  const found = new Map<K, T>()
  const read = (some: Iterable<K>) => {
    for (const key of some) {
      const value = namespace.get(key)
      if (value !== undefined) found.set(key, value as T)
    }
  }
  const list = Array.isArray(keys) ? (keys as K[]) : [...keys]
  if (namespace.prefetch === undefined || list.length < LONG) {
    read(list)
    return found
  }
  for (let from = 0; from < list.length; from += AT_ONCE) {
    const batch = list.slice(from, from + AT_ONCE)
    namespace.prefetch(batch)
    read(batch)
  }
  return found
}
