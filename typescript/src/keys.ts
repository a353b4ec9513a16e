import { InvalidArgument } from './errors.ts'
import type { Key } from './key.ts'

/** The keys of a cache, for `for await`; without `remote` for `for`, too. */
export type Keys = IterableIterator<Key> & AsyncIterable<Key>

/** Keys that are there at once. */
export function alsoAwaited(keys: IterableIterator<Key>): Keys {
  async function* each() {
    // Not by yield*, which would ask for this iterator.
    for (const key of keys) yield key
  }
  return Object.assign(keys, { [Symbol.asyncIterator]: each })
}

/** Keys that a server is asked for. */
export function awaitedOnly(keys: AsyncIterableIterator<Key, void>): Keys {
  const refuse = (): never => {
    throw new InvalidArgument('a cache with `remote` answers asynchronously: use for await')
  }
  return { [Symbol.asyncIterator]: () => keys, [Symbol.iterator]: refuse, next: refuse } as Keys
}
