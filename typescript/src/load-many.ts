import type { AwaitedNamespace } from './any-namespace.ts'
import type { ManyRequest } from './flight-many.ts'
import type { Key } from './key.ts'
import { checkLoader, listOf } from './option-names.ts'
import { type GetOrSetOptions, getOrSetOptions } from './options.ts'

/**
 * A load of several keys, checked.
 * @throws InvalidKey, InvalidArgument
 */
export function manyOf<K extends Key, L>(
  namespace: AwaitedNamespace,
  keys: Iterable<K>,
  loader: L,
  options: GetOrSetOptions = {},
): ManyRequest<K, L> {
  const listed = [...listOf(keys, 'keys')]
  namespace.handle.check()
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

/** Gives each form in which a key was asked for (text, bytes) a value of its own. */
export function apart<K extends Key, T>(namespace: AwaitedNamespace, values: Map<K, T>): Map<K, T> {
  // Texts that are one key are one key of the Map, too.
  if ([...values.keys()].every((key) => typeof key === 'string')) return values
  const given = new Set<string>()
  for (const [key, value] of values) {
    const name = namespace.identity(key)
    if (given.has(name)) values.set(key, namespace.copyOf(value) as T)
    given.add(name)
  }
  return values
}
