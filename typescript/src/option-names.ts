import { InvalidArgument } from './errors.ts'

/**
 * Refuses what is no option: a misspelt one would do nothing.
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

/**
 * A pair of a key and a value, as `setMany` takes them.
 * @throws InvalidArgument for text of two characters, for example
 */
export function pairOf<P extends readonly unknown[]>(given: P): P {
  if (Array.isArray(given)) return given
  throw new InvalidArgument(`an entry is a list [key, value], not ${typeof given}`)
}
