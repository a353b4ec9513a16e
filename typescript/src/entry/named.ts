/**
 * A value under the name of a registered type. A cache that has not registered the name (`types`) reads one. It is
 * written as it was read, so nothing is lost. Neither field can be assigned.
 */
export class Named<V = unknown> {
  /** Text of 1 to 255 UTF-8 bytes; a longer or empty one is `UnsupportedValue` when it is set. */
  readonly name: string
  /** What `encode` made of it: any value of the type map. */
  readonly value: V

  constructor(name: string, value: V) {
    this.name = name
    this.value = value
    Object.freeze(this)
  }
}

/** Whether a value is a `Named`, and no instance of a class that extends it. */
export function isNamed(value: object): value is Named {
  return value instanceof Named && Object.getPrototypeOf(value) === Named.prototype
}

export const NAME = 'the name of a type is text of 1 to 255 UTF-8 bytes'

/** Whether this may be the name of a registered type. */
export function isTypeName(name: unknown): name is string {
  if (typeof name !== 'string' || !name.isWellFormed()) return false
  const { length } = name
  return length > 0 && (length <= 85 || (length <= 255 && utf8.encode(name).length <= 255))
}

const utf8 = new TextEncoder()
