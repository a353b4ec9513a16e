import { InvalidArgument } from './errors.ts'

/**
 * Refuses what is not an option: a misspelt one would do nothing.
 * @throws InvalidArgument
 */
export function checkNames(options: object, known: ReadonlySet<string>): void {
  if (typeof options !== 'object' || options === null)
    throw new InvalidArgument('options are an object')
  for (const name of Object.keys(options)) {
    if (known.has(name)) continue
    throw new InvalidArgument(`there is no option ${name}; there are ${[...known].join(', ')}`)
  }
}

/** @throws InvalidArgument */
export function checkSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidArgument('signal is an AbortSignal')
  }
}

/** @throws InvalidArgument */
export function checkLoader(loader: unknown): void {
  if (typeof loader !== 'function') throw new InvalidArgument('the loader is a function')
}

/**
 * The elements of a list of keys, or of entries. Text is one key and no list of them, though it can be iterated.
 * @throws InvalidArgument
 */
export function listOf<T>(given: Iterable<T>, what: string): Iterable<T> {
  const isList =
    typeof given === 'object' &&
    given !== null &&
    !ArrayBuffer.isView(given) &&
    typeof given[Symbol.iterator] === 'function'
  if (isList) return given
  const name = given === null ? 'null' : ArrayBuffer.isView(given) ? 'bytes' : typeof given
  throw new InvalidArgument(
    `${what} are a list, not ${name}: for a single one write [${what === 'keys' ? 'key' : '[key, value]'}]`,
  )
}

/** Entries: pairs, as a Map or a list has them, or an object. */
export type EntriesOf<K, V> = Iterable<readonly [K, V]> | Readonly<Record<string, V>>

/**
 * The pairs of entries.
 * @throws InvalidArgument
 */
export function* pairsOf<K, V>(entries: EntriesOf<K, V>, what: string): Generator<readonly [K, V]> {
  if (typeof entries === 'object' && entries !== null && !(Symbol.iterator in entries)) {
    // It would look like an object without a key.
    if (Symbol.asyncIterator in entries) {
      throw new InvalidArgument(`${what} are a list, a Map or an object, not an async iterable`)
    }
    yield* Object.entries(entries) as unknown as [K, V][]
    return
  }
  for (const pair of listOf(entries as Iterable<readonly [K, V]>, what)) yield pairOf(pair)
}

/**
 * A pair of a key and a value, as `setMany` takes them.
 * @throws InvalidArgument for text of two characters, for example
 */
export function pairOf<P extends readonly unknown[]>(given: P): P {
  if (Array.isArray(given)) return given
  throw new InvalidArgument(`an entry is a list [key, value], not ${typeof given}`)
}

/** A value that an error speaks of. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  try {
    return String(value)
  } catch {
    // An object without a prototype, for example.
    return typeof value
  }
}
