/**
 * Copies that a cache holds of values with more than one object, in a form from which further copies are fast: the kind
 * of each object was found out when it was copied in (`clone.ts`), and is kept as a text with one character an object.
 */
import type { Segment } from '../entry/path.ts'
import type { Way } from '../entry/registered.ts'
import { freeze, Kept } from './kept.ts'
import { errorPrototype, typedArrayName, typedArrays } from './kind.ts'
import { copyPlain, copySparse } from './shape.ts'
import { wayTo } from './way.ts'

/** What an object of a stored value is and how it is copied; below 32, a plain object and its place in `copyPlain`. */
export type Code = number
/** Added for a plain object or array of a `Tree` that holds further objects. */
export const HOLDS_OBJECTS = 32
export const ARRAY_CODE = 64
export const SPARSE_ARRAY = 128
export const BARE = 129
export const DATE = 130
export const REGEXP = 131
/** A Map and a Set begin empty: their content is an array that is copied beside them. */
export const MAP = 132
export const SET = 133
export const ERROR = 134
export const ARRAY_BUFFER = 135
export const BUFFER = 136
export const TYPED_ARRAY = 137
export const DATA_VIEW = 138
/** A view on a buffer that the value reaches by another way too. */
export const SHARED_VIEW = 139
export const INSTANCE = 140
export const BOXED = 141

/** Copies instances of classes: `CloneOptions`. */
export type CloneInstance = (instance: object) => object | undefined

/** Codes as text: a byte each, where an array would take eight. */
export function textOf(codes: readonly Code[], count: number): string {
  let text = ''
  for (let from = 0; from < count; from += CHUNK) {
    const to = Math.min(count, from + CHUNK)
    text += String.fromCharCode.apply(null, codes.slice(from, to))
  }
  return text
}
/** Arguments of a call: they are on the stack. */
const CHUNK = 4096

type Fields = Record<PropertyKey, unknown>

/** Plain objects and arrays, none of them reached twice: no table of the copies is needed. */
export class Tree {
  readonly #root: object
  /** A code for each object, level by level. */
  readonly #codes: string

  constructor(root: object, codes: string) {
    this.#root = root
    this.#codes = codes
  }

  copy(): object {
    const codes = this.#codes
    let at = 0
    const code = codes.charCodeAt(at++)
    const root = copyContainer(this.#root, code)
    // No recursion: values may be nested deeper than the stack.
    const holders = [root]
    for (let next = 0; next < holders.length; next++) {
      const holder = holders[next]
      if (Array.isArray(holder)) {
        for (let place = 0; place < holder.length; place++) {
          const held = holder[place]
          if (typeof held !== 'object' || held === null) continue
          const code = codes.charCodeAt(at++)
          const copy = copyContainer(held, code)
          holder[place] = copy
          if (code & HOLDS_OBJECTS) holders.push(copy)
        }
      } else {
        for (const key in holder) {
          const held = (holder as Fields)[key]
          if (typeof held !== 'object' || held === null || !Object.hasOwn(holder, key)) continue
          const code = codes.charCodeAt(at++)
          const copy = copyContainer(held, code)
          // An own property since the copy was made, also if its name is `__proto__`.
          ;(holder as Fields)[key] = copy
          if (code & HOLDS_OBJECTS) holders.push(copy)
        }
      }
    }
    return root
  }
}

/** A copy of a plain object or array, whose parts are still the stored ones. */
function copyContainer(stored: object, code: Code): object {
  return code & ARRAY_CODE ? (stored as unknown[]).slice() : copyPlain(stored, code & 31)
}

/** Any value: objects that are reached twice, cycles, all built-in classes. */
export class Graph {
  /** The objects, the value itself first. Those of a Map, Set or shared view are left out here. */
  readonly #nodes: readonly (object | undefined)[]
  readonly #codes: string
  /** Three a reference: the place of its holder in `#nodes`, the key there, the place of what is held. */
  readonly #edges: readonly unknown[]
  /** Two a Map, Set or error: its place, and that of the array with its content. */
  readonly #contents: readonly number[]
  readonly #views: readonly SharedView[]
  readonly #cloneInstance: CloneInstance | undefined
  readonly #freezes: boolean

  constructor(
    nodes: readonly (object | undefined)[],
    codes: string,
    edges: readonly unknown[],
    contents: readonly number[],
    views: readonly SharedView[],
    cloneInstance: CloneInstance | undefined,
    freezes: boolean,
  ) {
    this.#nodes = nodes
    this.#codes = codes
    this.#edges = edges
    this.#contents = contents
    this.#views = views
    this.#cloneInstance = cloneInstance
    this.#freezes = freezes
  }

  /** `way` leads to the value where it is part of another. */
  copy(way?: Way): object {
    const copies = this.copies(way)
    if (this.#freezes) for (const copy of copies) freeze(copy)
    return copies[0]
  }

  /** A copy of every object, the value itself first. */
  copies(way?: Way): object[] {
    const nodes = this.#nodes
    const codes = this.#codes
    const edges = this.#edges
    const copies: object[] = []
    for (let node = 0; node < nodes.length; node++) {
      copies.push(this.#copyNode(node, codes.charCodeAt(node), way))
    }
    for (const view of this.#views)
      copies[view.node] = view.over(copies[view.buffer] as ArrayBuffer)
    for (let edge = 0; edge < edges.length; edge += 3) {
      const holder = copies[edges[edge] as number] as Fields
      holder[edges[edge + 1] as string] = copies[edges[edge + 2] as number]
    }
    // Last, when the contents are complete: a Map's keys cannot be replaced later.
    const contents = this.#contents
    for (let at = 0; at < contents.length; at += 2) {
      fill(copies[contents[at]], copies[contents[at + 1]] as unknown[])
    }
    return copies
  }

  #wayTo(node: number, way: Way | undefined): readonly Segment[] {
    const codes = this.#codes
    const held = {
      edges: this.#edges,
      edgeCount: this.#edges.length,
      contents: this.#contents,
      nodes: this.#nodes,
      codeOf: (at: number) => codes.charCodeAt(at),
    }
    return [...(way?.() ?? []), ...wayTo(node, held)]
  }

  #copyNode(node: number, code: Code, way: Way | undefined): object {
    const stored = this.#nodes[node] as object
    if (code < HOLDS_OBJECTS) return copyPlain(stored, code)
    switch (code) {
      case ARRAY_CODE:
        return (stored as unknown[]).slice()
      case SPARSE_ARRAY:
        return copySparse(stored as unknown[])
      case BARE:
        return copyBare(stored)
      case DATE:
        return new Date((stored as Date).getTime())
      case REGEXP:
        return copyRegExp(stored as RegExp)
      case MAP:
        return new Map()
      case SET:
        return new Set()
      case ERROR:
        return emptyError(stored)
      case ARRAY_BUFFER:
        return (stored as ArrayBuffer).slice(0)
      case BUFFER:
        return Buffer.from(stored as Buffer)
      case TYPED_ARRAY:
        return (stored as Uint8Array).slice()
      case DATA_VIEW:
        return new DataView((stored as DataView).buffer.slice(0) as ArrayBuffer)
      case INSTANCE:
        if (stored instanceof Kept) return stored.copy(() => this.#wayTo(node, way)) as object
        return this.#cloneInstance!(stored) as object
      case BOXED:
        return Object(stored.valueOf())
      default:
        // A shared view, which needs its buffer first.
        return stored
    }
  }
}

/** A typed array or DataView on a buffer of the same value. */
export class SharedView {
  readonly node: number
  readonly buffer: number
  readonly #name: string | undefined
  readonly #offset: number
  readonly #length: number

  constructor(node: number, buffer: number, view: ArrayBufferView) {
    this.node = node
    this.buffer = buffer
    this.#name = typedArrayName(view)
    this.#offset = view.byteOffset
    this.#length = this.#name === undefined ? view.byteLength : (view as Uint8Array).length
  }

  over(buffer: ArrayBuffer): object {
    if (this.#name === undefined) return new DataView(buffer, this.#offset, this.#length)
    return new (typedArrays.get(this.#name)!)(buffer, this.#offset, this.#length)
  }
}

/** A copy of an object without a prototype. */
export function copyBare(object: object): object {
  return Object.assign(Object.create(null), object)
}

export function copyRegExp(expression: RegExp): RegExp {
  const copy = new RegExp(expression.source, expression.flags)
  copy.lastIndex = expression.lastIndex
  return copy
}

/** An error of the same built-in class, without content. */
export function emptyError(error: object): object {
  return Object.setPrototypeOf(new Error(), errorPrototype(error))
}

// Not the object's own methods, which may be others.
const members = Set.prototype.values
const entries = Map.prototype.entries

/** Two an entry of a map: key, value. */
export function contentOfMap(map: Map<unknown, unknown>): unknown[] {
  const content: unknown[] = []
  for (const [key, value] of entries.call(map)) content.push(key, value)
  return content
}

export function contentOfSet(set: Set<unknown>): unknown[] {
  return [...members.call(set)]
}

/** Three an own property of an error: key, value, whether it is enumerable. */
export function contentOfError(error: object): unknown[] {
  const content: unknown[] = []
  const usual = ['name', 'message', 'stack', 'cause', 'errors']
  for (const key of new Set([...usual, ...Object.keys(error)])) {
    if (!Object.hasOwn(error, key)) continue
    const value = (error as Fields)[key]
    content.push(key, value, Object.prototype.propertyIsEnumerable.call(error, key))
  }
  return content
}

/** Puts the content into an empty Map, Set or error. */
export function fill(empty: object, content: readonly unknown[]): void {
  if (empty instanceof Map) {
    for (let at = 0; at < content.length; at += 2) empty.set(content[at], content[at + 1])
  } else if (empty instanceof Set) {
    for (const member of content) empty.add(member)
  } else {
    for (let at = 0; at < content.length; at += 3) {
      Object.defineProperty(empty, content[at] as string, {
        value: content[at + 1],
        enumerable: content[at + 2] as boolean,
        writable: true,
        configurable: true,
      })
    }
  }
}
