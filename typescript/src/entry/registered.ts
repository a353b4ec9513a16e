/** Classes of the program's own that it registers by name: `spec/entry.md`, "Registered types". */
import { InvalidArgument, UnsupportedValue, WrongType } from '../errors.ts'
import { Kind, kindOf } from '../memory/kind.ts'
import { checkNames } from '../option-names.ts'
import { isNamed, isTypeName, NAME, Named } from './named.ts'
import { formatPath, refused, type Segment } from './path.ts'

/** How instances of one class become values and are made of them again. `registered` tells the types by the class. */
// biome-ignore lint/suspicious/noExplicitAny: a cache's types are of many classes, each with parameters of its own
export interface RegisteredType<T = any, V = any> {
  /** The class. Its very instances are encoded; those of a class that extends it are refused. */
  readonly class: {
    /** What its instances have; classes whose constructor is private have it, too. */
    readonly prototype: T
  }
  /**
   * What is stored of an instance: any value that the cache takes, usually a plain object of the fields. It may hold
   * instances of other registered classes. What it throws is the cause of an `UnsupportedValue`.
   */
  encode(instance: T): V
  /**
   * Makes an instance of what `encode` returned, in this program or another. What it throws is the cause of a `WrongType`,
   * and so is undefined, which is what a miss gives.
   */
  decode(value: V): T
}

/** The option `types`: names of 1 to 255 UTF-8 bytes, the same in every language, and what they stand for. */
export type RegisteredTypes =
  | Readonly<Record<string, RegisteredType>>
  | ReadonlyMap<string, RegisteredType>

/** A registered type with typed functions: `types: { user: registered(User, { encode, decode }) }`. */
export function registered<T, V>(
  type: RegisteredType<T>['class'],
  { encode, decode }: { encode(instance: T): V; decode(value: V): T },
): RegisteredType<T, V> {
  return { class: type, encode, decode }
}

/** The way to a value, asked for when something is wrong with it. */
export type Way = () => readonly Segment[]

interface Type extends RegisteredType {
  readonly name: string
}

/** The registered types of a cache. */
export class Types {
  readonly #byName = new Map<string, Type>()
  readonly #byPrototype = new Map<object, Type>()

  /** @throws InvalidArgument */
  constructor(given: RegisteredTypes, reserved: readonly { prototype: object }[]) {
    for (const [name, type] of pairsOf(given)) this.#add(name, type, reserved)
  }

  #add(name: unknown, type: RegisteredType, reserved: readonly { prototype: object }[]): void {
    if (!isTypeName(name)) throw new InvalidArgument(NAME)
    checkNames(type, PARTS)
    const { class: made, encode, decode } = type
    const prototype = typeof made === 'function' && (made.prototype as object | undefined)
    if (!prototype || typeof encode !== 'function' || typeof decode !== 'function') {
      throw new InvalidArgument(`the type ${name} is a class with the functions encode and decode`)
    }
    const isKnown = [...BUILT_IN, ...reserved].some((known) => known.prototype === prototype)
    if (isKnown || this.#byPrototype.has(prototype)) {
      throw new InvalidArgument(`the class of the type ${name} has another name, or needs none`)
    }
    // Of the caller's object only its present state counts; the functions are still called on it.
    const own: Type = {
      name,
      class: made,
      encode: (instance) => encode.call(type, instance),
      decode: (value) => decode.call(type, value),
    }
    this.#byName.set(name, own)
    this.#byPrototype.set(prototype, own)
  }

  /** Whether an object is an instance of a registered class itself. */
  has(value: object): boolean {
    return this.#byPrototype.has(Object.getPrototypeOf(value))
  }

  /**
   * Name and value of an instance of a registered class.
   * @throws UnsupportedValue
   */
  encode(value: object, way: Way): Named {
    const { name, encode } = this.#byPrototype.get(Object.getPrototypeOf(value)) as Type
    try {
      return new Named(name, encode(value))
    } catch (cause) {
      throw new UnsupportedValue(formatPath(way()), failed('encode', name, cause), { cause })
    }
  }

  /**
   * The object of a name's class; a `Named` where the name is not registered.
   * @throws WrongType
   */
  decode(named: Named, way: Way): unknown {
    const { name, value } = named
    const type = this.#byName.get(name)
    if (type === undefined) return named
    try {
      const decoded = type.decode(value)
      if (decoded !== undefined) return decoded
      throw new TypeError('it returned undefined')
    } catch (cause) {
      throw new WrongType(formatPath(way()), failed('decode', name, cause), { cause })
    }
  }
}

const PARTS: ReadonlySet<string> = new Set<keyof RegisteredType>(['class', 'encode', 'decode'])
const BUILT_IN: readonly { prototype: object }[] = [
  Object,
  Array,
  Map,
  Set,
  Date,
  Uint8Array,
  Named,
  ...(typeof Buffer === 'function' ? [Buffer] : []),
]

/**
 * The types of the option. `reserved` are classes that a value may have without it.
 * @throws InvalidArgument
 */
export function typesOf(
  given: RegisteredTypes | undefined,
  reserved: readonly { prototype: object }[] = [],
): Types | undefined {
  return given === undefined ? undefined : new Types(given, reserved)
}

function pairsOf(given: RegisteredTypes): Iterable<[unknown, RegisteredType]> {
  const kind = typeof given === 'object' && given !== null ? kindOf(given) : undefined
  if (kind === Kind.Map) return given as ReadonlyMap<string, RegisteredType>
  if (kind !== Kind.Plain && kind !== Kind.Bare) {
    throw new InvalidArgument('types is an object of types by their names, or a Map')
  }
  // Symbols are not names, and refused.
  const names = [...Object.keys(given), ...Object.getOwnPropertySymbols(given)]
  return names.map((name) => [name, (given as Record<PropertyKey, RegisteredType>)[name]])
}

/**
 * Name and value of what is written as a registered type; undefined for any other object.
 * @throws UnsupportedValue
 */
export function namedOf(value: object, types: Types | undefined, way: Way): Named | undefined {
  if (types?.has(value)) return types.encode(value, way)
  if (!isNamed(value)) return undefined
  if (isTypeName(value.name)) return value
  throw refused(way(), NAME)
}

/** Like `Types.decode`, also for a cache without any. */
export function decode(named: Named, types: Types | undefined, way: Way): unknown {
  return types === undefined ? named : types.decode(named, way)
}

function failed(what: string, name: string, cause: unknown): string {
  let said = ''
  try {
    said = String(cause)
  } catch {
    // It has no text.
  }
  return `the ${what} of the type ${name} failed: ${said}`
}
