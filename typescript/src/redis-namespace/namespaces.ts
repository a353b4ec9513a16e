import { InvalidArgument } from '../errors.ts'
import { Prefix } from './prefix.ts'

/** A name, a list of nested ones, or a function that is called at every command. */
export type Namespace = string | readonly Namespace[] | (() => Namespace)

/** The default separator. */
export const SEPARATOR = ':'

/** Prefixes kept, for a function that gives many names. */
const KEPT = 1024

/** A namespace and its separator. */
export interface Level {
  readonly namespace: Namespace
  readonly separator?: string | undefined
}

/** The namespace of a client, within those of the views that it was made of. */
export class Namespaces {
  readonly #levels: readonly Level[]
  readonly #fixed: Prefix | undefined
  readonly #known = new Map<string, Prefix>()

  /**
   * @param levels the outermost first
   * @throws {InvalidArgument} a name or a separator is wrong
   */
  constructor(levels: readonly Level[]) {
    for (const { separator } of levels) check(separator)
    this.#levels = levels
    if (!levels.some(({ namespace }) => isDynamic(namespace))) this.#fixed = this.#resolve()
  }

  /** Whether a function gives a part of it. */
  get isDynamic(): boolean {
    return this.#fixed === undefined
  }

  /**
   * The prefix of this moment.
   *
   * @throws {InvalidArgument} a function gave no name: nothing is sent without one
   */
  get prefix(): Prefix {
    return this.#fixed ?? this.#resolve()
  }

  #resolve(): Prefix {
    const text = this.#levels.map(textOf).join('')
    let prefix = this.#known.get(text)
    if (prefix === undefined) {
      if (this.#known.size >= KEPT) this.#known.clear()
      prefix = new Prefix(text)
      this.#known.set(text, prefix)
    }
    return prefix
  }
}

function textOf({ namespace, separator = SEPARATOR }: Level): string {
  return flatten(namespace).join(separator) + separator
}

/** Without one, a namespace would hold every other whose name begins with its own name. */
function check(separator: unknown): void {
  if (separator === undefined || (typeof separator === 'string' && separator !== '')) return
  throw new InvalidArgument(
    `a separator is text that is not empty, not ${JSON.stringify(separator)}`,
  )
}

function isDynamic(namespace: Namespace): boolean {
  return typeof namespace === 'function' || (Array.isArray(namespace) && namespace.some(isDynamic))
}

function flatten(namespace: Namespace): string[] {
  const given = typeof namespace === 'function' ? namespace() : namespace
  if (Array.isArray(given) && given.length > 0) return given.flatMap(flatten)
  if (typeof given === 'function') return flatten(given)
  if (typeof given === 'string' && given !== '') return [given]
  throw new InvalidArgument(
    'a namespace is text, a list of texts or a function that gives one, ' +
      `not ${typeof given === 'string' || Array.isArray(given) ? JSON.stringify(given) : String(given)}`,
  )
}
