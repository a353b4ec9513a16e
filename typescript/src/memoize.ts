import type { Duration } from './duration.ts'
import { InvalidArgument } from './errors.ts'
import { checkNames } from './option-names.ts'

/** Options of `memoize` and `memoizeSync`. */
export interface MemoizeOptions<A extends unknown[], K> {
  /**
   * Makes the key of the result from the arguments. Default: `name` and the arguments as JSON, which then must be null,
   * booleans, finite numbers, texts, lists and plain objects of these.
   */
  readonly key?: (...args: A) => K
  /**
   * A name that tells the function from others with results in the same cache, in every program that uses it. A
   * function's own name does not: functions made by one function share it, and minifiers change it. Default: none.
   */
  readonly name?: string
  /** How long a result lives; `null` for ever. Default: the cache's. */
  readonly ttl?: Duration | null
}

/** A memoized function. It is called as before. */
export interface Memoized<A extends unknown[], R, F> {
  (...args: A): R
  /** Deletes the result for these arguments; true when there was one. */
  forget(...args: A): F
}

const OPTIONS: ReadonlySet<string> = new Set<keyof MemoizeOptions<[], unknown>>([
  'key',
  'name',
  'ttl',
])

/** How a function's results are found. */
export interface Place<A extends unknown[], K> {
  /** Undefined if `key` makes the keys. */
  readonly name: string | undefined
  readonly keyOf: (args: A) => K
}

/**
 * Where the results of a function are: under keys of its `key`, or under its name and the text of the arguments.
 * @throws InvalidArgument
 */
export function placeOf<A extends unknown[], K>(
  work: (...args: A) => unknown,
  options: MemoizeOptions<A, K>,
): Place<A, K | string> {
  if (typeof work !== 'function') throw new InvalidArgument('what is memoized is a function')
  checkNames(options, OPTIONS)
  const { key, name } = options
  if (key !== undefined) {
    if (typeof key !== 'function') throw new InvalidArgument('key is a function of the arguments')
    if (name !== undefined) {
      throw new InvalidArgument('with key a name means nothing: the key is used as it is')
    }
    return { name, keyOf: (args) => key(...args) }
  }
  if (name !== undefined && (typeof name !== 'string' || name === '')) {
    throw new InvalidArgument('name is text that tells the function from other ones')
  }
  if (name === undefined) {
    throw new InvalidArgument(
      "memoize needs a name that tells the function from other ones, like { name: 'user' }, or a key",
    )
  }
  return { name, keyOf: argumentsText }
}

/** What is deeper is circular, or was not written by hand. */
const DEEPEST = 100

/**
 * Arguments as JSON. Different ones have different texts; trailing ones that are undefined count as left out.
 * @throws InvalidArgument for what JSON does not have
 */
export function argumentsText(args: readonly unknown[]): string {
  let { length } = args
  while (length > 0 && args[length - 1] === undefined) length--
  const given = args.slice(0, length)
  for (const [place, part] of given.entries()) check(part, place, 0)
  return JSON.stringify(given)
}

function check(part: unknown, place: number, depth: number): void {
  if (part === null || typeof part === 'string' || typeof part === 'boolean') return
  if (Number.isFinite(part) && !Object.is(part, -0)) return
  if (typeof part !== 'object' || depth === DEEPEST) throw inexact(part, place)
  const values = Array.isArray(part) ? part : Object.values(part)
  // A missing element reads as undefined, and properties that are not elements would be left out.
  const isWhole = Array.isArray(part)
    ? Object.keys(part).length === part.length
    : Object.getPrototypeOf(part) === Object.prototype &&
      Object.getOwnPropertySymbols(part).length === 0
  if (!isWhole || typeof (part as { toJSON?: unknown }).toJSON === 'function') {
    throw inexact(part, place)
  }
  for (const value of values) check(value, place, depth + 1)
}

function inexact(part: unknown, place: number): InvalidArgument {
  const what = typeof part === 'number' ? String(part) : typeof part
  return new InvalidArgument(
    `argument ${place + 1} holds what JSON does not tell from everything else (${what}): make a key of it by the option key`,
  )
}
