import { InvalidArgument } from '../errors.ts'
import { Prefix } from './prefix.ts'

/** A name, a list of nested ones, or a function that is asked at every command. */
export type Namespace = string | readonly Namespace[] | (() => Namespace)

/** Prefixes kept, for a function that gives many names. */
const KEPT = 1024

/** The namespace of a client. */
export class Namespaces {
  readonly #namespace: Namespace
  readonly #fixed: Prefix | undefined
  readonly #known = new Map<string, Prefix>()

  constructor(namespace: Namespace) {
    this.#namespace = namespace
    if (!isDynamic(namespace)) this.#fixed = this.#resolve()
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
    const text = flatten(this.#namespace).join(':')
    let prefix = this.#known.get(text)
    if (prefix === undefined) {
      if (this.#known.size >= KEPT) this.#known.clear()
      prefix = new Prefix(text)
      this.#known.set(text, prefix)
    }
    return prefix
  }
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
