import type { ManyRequest } from './flight-many.ts'
import type { Key } from './key.ts'
import type { Keyspace } from './keyspace.ts'
import { checkLoader, listOf } from './option-names.ts'
import { type GetOrSetOptions, getOrSetOptions } from './options.ts'

/**
 * A load of several keys, checked.
 * @throws InvalidKey, InvalidArgument
 */
export function manyOf<K extends Key, L>(
  namespace: Keyspace,
  keys: Iterable<K>,
  loader: L,
  options: GetOrSetOptions = {},
): ManyRequest<K, L> {
  const listed = [...listOf(keys, 'keys')]
  for (const key of listed) namespace.checkKey(key)
  const { ttl, signal } = getOrSetOptions(options)
  checkLoader(loader)
  const { sleep, settings } = namespace
  return {
    namespace,
    keys: listed,
    loader,
    ttl: () => ttl ?? settings.lifetime.next(),
    signal,
    sleep,
  }
}
