import { isImmutable } from './immutable.ts'

/** What an object is, as far as copying goes. Numbers, because they are compared for each object of a value. */
export type Kind = (typeof Kind)[keyof typeof Kind]
export const Kind = {
  Plain: 0,
  Array: 1,
  /** A plain object whose prototype is null. */
  Bare: 2,
  Date: 3,
  RegExp: 4,
  Map: 5,
  Set: 6,
  ArrayBuffer: 7,
  /** Node's and Bun's Buffer. */
  Buffer: 8,
  TypedArray: 9,
  DataView: 10,
  /** One of the language's own classes of errors. */
  Error: 11,
  /** `Object(1)` and its like. */
  Boxed: 12,
  /** Never changed: `immutable.ts`. */
  Immutable: 13,
  /** Anything else: mostly an instance of a class. */
  Instance: 14,
} as const

/** False, or an error, for an object that lacks the class' inner state. */
type Brand = (value: object) => boolean

interface Class {
  readonly kind: Kind
  readonly brand: Brand
}

/** A brand by a built-in method or getter that throws for any other object. */
function uses(method: (this: never) => unknown): Brand {
  return (value) => {
    method.call(value as never)
    return true
  }
}

function getter(prototype: object, name: PropertyKey): (this: never) => unknown {
  return Object.getOwnPropertyDescriptor(prototype, name)!.get!
}

/** The element type of a typed array, of any realm; undefined for other objects. */
export const typedArrayName: (value: object) => string | undefined = (value) =>
  nameGetter.call(value as never) as string | undefined
const nameGetter = getter(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)

/** The classes of typed arrays that this runtime has, by name. */
export const typedArrays: ReadonlyMap<string, Uint8ArrayConstructor> = new Map(
  [
    'Int8Array',
    'Uint8Array',
    'Uint8ClampedArray',
    'Int16Array',
    'Uint16Array',
    'Int32Array',
    'Uint32Array',
    'Float16Array',
    'Float32Array',
    'Float64Array',
    'BigInt64Array',
    'BigUint64Array',
  ].flatMap((name) => {
    const builtIn = (globalThis as Record<string, unknown>)[name]
    return builtIn ? [[name, builtIn as Uint8ArrayConstructor]] : []
  }),
)

const errors = [
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
  AggregateError,
]
const errorPrototypes = new Map<string, object>(
  errors.map(({ name, prototype }) => [name, prototype]),
)

/** This realm's prototype for errors of a built-in class, of any realm. */
export function errorPrototype(error: object): object {
  return errorPrototypes.get(Object.getPrototypeOf(error).constructor.name) ?? Error.prototype
}

const tagOf = Object.prototype.toString
const isError: Brand = (value) => tagOf.call(value) === '[object Error]'

const builtIns: readonly (readonly [{ name: string; prototype: object }, Kind, Brand])[] = [
  [Array, Kind.Array, Array.isArray],
  [Date, Kind.Date, uses(Date.prototype.getTime)],
  [RegExp, Kind.RegExp, uses(getter(RegExp.prototype, 'source'))],
  [Map, Kind.Map, uses(getter(Map.prototype, 'size'))],
  [Set, Kind.Set, uses(getter(Set.prototype, 'size'))],
  [ArrayBuffer, Kind.ArrayBuffer, uses(getter(ArrayBuffer.prototype, 'byteLength'))],
  [DataView, Kind.DataView, uses(getter(DataView.prototype, 'buffer'))],
  [Number, Kind.Boxed, uses(Number.prototype.valueOf)],
  [String, Kind.Boxed, uses(String.prototype.valueOf)],
  [Boolean, Kind.Boxed, uses(Boolean.prototype.valueOf)],
  [BigInt, Kind.Boxed, uses(BigInt.prototype.valueOf)],
  ...errors.map((builtIn) => [builtIn, Kind.Error, isError] as const),
  ...Array.from(
    typedArrays,
    ([name, builtIn]) =>
      [builtIn, Kind.TypedArray, (value: object) => typedArrayName(value) === name] as const,
  ),
]

const byPrototype = new Map<object, Class>()
const byName = new Map<string, Class>([['Object', { kind: Kind.Plain, brand: () => true }]])
for (const [{ name, prototype }, kind, brand] of builtIns) {
  byPrototype.set(prototype, { kind, brand })
  byName.set(name, { kind, brand })
}
if (typeof Buffer === 'function') {
  byPrototype.set(Buffer.prototype, { kind: Kind.Buffer, brand: ArrayBuffer.isView })
}

const objectPrototype = Object.prototype
const arrayPrototype = Array.prototype

/**
 * What an object is. An instance of a class that extends a built-in one is an `Instance`; an object of another realm
 * (`node:vm`, Jest) is what it is there.
 */
export function kindOf(value: object): Kind {
  const prototype = Object.getPrototypeOf(value)
  if (prototype === objectPrototype) return Kind.Plain
  if (prototype === arrayPrototype && Array.isArray(value)) return Kind.Array
  return rarerKindOf(value, prototype)
}

function rarerKindOf(value: object, prototype: object | null): Kind {
  if (prototype === null) return Kind.Bare
  const known = byPrototype.get(prototype) ?? foreign(prototype)
  if (known === undefined) return isImmutable(value) ? Kind.Immutable : Kind.Instance
  try {
    return known.brand(value) ? known.kind : Kind.Instance
  } catch {
    return Kind.Instance
  }
}

const sourceText = Function.prototype.toString

/** The built-in class whose prototype this is in another realm. */
function foreign(prototype: object): Class | undefined {
  const made: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value
  if (typeof made !== 'function' || made.prototype !== prototype) return undefined
  const known = byName.get(made.name)
  return known && sourceText.call(made).includes('[native code]') ? known : undefined
}
