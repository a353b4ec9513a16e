import { isMatch, MATCH } from '../entry/match.ts'
import { MAX_DEPTH } from '../entry/messagepack/limits.ts'
import { refused, type Segment } from '../entry/path.ts'
import type { Way } from '../entry/registered.ts'
import { type Copier, namedIn, TO_THE_VALUE } from './copier.ts'
import { articled, describe, isBinary, safeKindOf } from './describe.ts'
import { Kept } from './kept.ts'
import { Kind, kindOf, typedArrayName, typedArrays } from './kind.ts'
import { AS_IS, FLAT_ARRAY, GRAPH, type Plan, TREE } from './plan.ts'
import { copyArray, copyPlain, copySparse, isSparse, placeOf, sparsePlaces } from './shape.ts'
import {
  ARRAY_BUFFER,
  ARRAY_CODE,
  BARE,
  BOXED,
  BUFFER,
  type Code,
  contentOfError,
  contentOfMap,
  contentOfSet,
  copyBare,
  copyRegExp,
  DATA_VIEW,
  DATE,
  ERROR,
  emptyError,
  fill,
  Graph,
  HOLDS_OBJECTS,
  INSTANCE,
  MAP,
  REGEXP,
  SET,
  SHARED_VIEW,
  SharedView,
  SPARSE_ARRAY,
  Tree,
  TYPED_ARRAY,
  textOf,
} from './stored.ts'
import { wayTo } from './way.ts'
import * as weight from './weigh.ts'

const EMPTY = {}
/** A `Tree` and its text; a `Graph`, its text and its four arrays. */
const TREE_BYTES = 64
const GRAPH_BYTES = 320
/** A `Kept`. */
const KEPT_BYTES = 64

/** Objects with a state that `Object.freeze` leaves open. */
const NEVER_FROZEN: readonly Kind[] = [
  Kind.Date,
  Kind.RegExp,
  Kind.Map,
  Kind.Set,
  Kind.ArrayBuffer,
  Kind.Buffer,
  Kind.TypedArray,
  Kind.DataView,
]

/** Objects up to this many are found again by looking at each of them, more by a table. */
const FEW = 8
/** Arrays and tables that were longer are not kept. */
const LARGE = 4096

type Fields = Record<PropertyKey, unknown>

/**
 * One copying of a value, level by level: the objects found are the queue of those to be copied. Its arrays are kept
 * for the next one.
 */
export class Walk {
  plan: Plan = AS_IS
  weight = 0

  readonly #copier: Copier
  readonly #freezes: boolean
  /** The way to the value itself. */
  #way: Way = TO_THE_VALUE
  /**
   * The objects of the value, and at the same places their copies, and what they are: a kind until they are copied,
   * then a code.
   */
  #sources: (object | undefined)[] = []
  #copies: (object | undefined)[] = []
  #codes: Code[] = []
  /** How many objects there are; behind them the arrays are left over from earlier values. */
  #count = 0
  /** As in `Graph`. */
  #edges: unknown[] = []
  #edgeCount = 0
  #contents: number[] = []
  #views: SharedView[] = []
  /** The objects, as soon as they are more than a few. */
  #seen = new Set<object>()
  /** Places of the objects by object, as far as they were needed: of the first `#placed`. */
  #places = new Map<object, number>()
  #placed = 0
  /** The object that was referred to last, and its place: lists often repeat one. */
  #last: object | undefined
  #lastPlace = 0
  /** The place of an ArrayBuffer, or of the only view on it so far. */
  readonly #buffers = new Map<ArrayBufferLike, number>()
  /** Whether it is still possible that a `Tree` will do. */
  #isTree = true
  #keepsInstances = false
  /** Whether there are values of registered types: they are made anew for each reader. */
  isMade = false

  /** With `freezes`, objects that cannot be frozen are refused. */
  constructor(copier: Copier, freezes: boolean) {
    this.#copier = copier
    this.#freezes = freezes
  }

  /**
   * Copies a value; `way` leads to it. `copy` is a shallow copy of it if there is one, by the given place of
   * `copyPlain`.
   */
  run(value: object, kind: Kind, copy: object | undefined, place: number, way: Way): void {
    this.#way = way
    this.#add(value, kind)
    if (copy === undefined) this.#copy(0)
    else this.#plain(0, copy, place)
    for (let node = 1; node < this.#count; node++) this.#copy(node)
    for (const view of this.#views) {
      this.#copies[view.node] = undefined
      this.#codes[view.node] = SHARED_VIEW
    }
    const edges = this.#edges
    const copies = this.#copies
    // The copies still hold the parts of the source.
    for (let edge = 0; edge < this.#edgeCount; edge += 3) {
      const holder = copies[edges[edge] as number] as Fields
      holder[edges[edge + 1] as string] = copies[edges[edge + 2] as number]
    }
  }

  /** What is stored of the value; `plan` and `weight` are right from then on. */
  stored(): unknown {
    const root = this.#copies[0] as object
    const code = this.#codes[0]
    if (this.#count === 1 && this.#edgeCount === 0 && code <= ARRAY_CODE) {
      this.plan = code === ARRAY_CODE ? FLAT_ARRAY : code
      return root
    }
    if (this.#isTree && !this.#keepsInstances) {
      this.plan = TREE
      this.weight += TREE_BYTES + this.#count
      return new Tree(root, textOf(this.#codes, this.#count))
    }
    this.plan = GRAPH
    this.weight += GRAPH_BYTES + 9 * this.#count + weight.SLOT * this.#edgeCount
    return this.#graph()
  }

  /** The copies themselves, every one frozen; the value first. For a walk that freezes. */
  frozen(): object {
    const copies = this.#copies.slice(0, this.#count) as object[]
    const contents = this.#contents
    for (let at = 0; at < contents.length; at += 2) {
      fill(copies[contents[at]], copies[contents[at + 1]] as unknown[])
    }
    for (const copy of copies) Object.freeze(copy)
    return copies[0]
  }

  #graph(): Graph {
    const codes = this.#codes
    for (let node = 0; node < this.#count; node++) {
      if (codes[node] < SPARSE_ARRAY) codes[node] &= ~HOLDS_OBJECTS
    }
    return new Graph(
      this.#copies.slice(0, this.#count),
      textOf(codes, this.#count),
      this.#edges.slice(0, this.#edgeCount),
      this.#contents.slice(),
      this.#views.slice(),
      this.#copier.cloneInstance,
      this.#freezes,
    )
  }

  /** Copies one object, whose parts are put into the queue. */
  #copy(node: number): void {
    const source = this.#sources[node] as object
    try {
      this.#copyAs(this.#codes[node] as Kind, node, source)
    } catch (thrown) {
      // A detached buffer, for example.
      if (thrown instanceof TypeError && isBinary(source)) {
        throw this.#refused(node, 'its memory cannot be copied')
      }
      throw thrown
    }
  }

  #copyAs(kind: Kind, node: number, source: object): void {
    if (this.#freezes && NEVER_FROZEN.includes(kind)) {
      throw this.#refused(node, `${articled(source)} cannot be frozen: isolation by clone keeps it`)
    }
    switch (kind) {
      case Kind.Plain: {
        const place = placeOf(source)
        this.#plain(node, copyPlain(source, place), place)
        break
      }
      case Kind.Array:
        this.#array(node, source as unknown[])
        break
      case Kind.Bare: {
        const copy = copyBare(source)
        this.#set(node, copy, BARE)
        this.#fields(node, copy, Object.getOwnPropertySymbols(copy))
        break
      }
      case Kind.Date:
        this.weight += weight.DATE
        this.#set(node, new Date((source as Date).getTime()), DATE)
        break
      case Kind.RegExp:
        this.#regExp(node, source as RegExp)
        break
      case Kind.Map:
        this.weight += weight.TABLE + weight.MAP_ENTRY * (source as Map<unknown, unknown>).size
        this.#content(node, MAP, contentOfMap(source as Map<unknown, unknown>))
        break
      case Kind.Set:
        this.weight += weight.TABLE + weight.SET_ENTRY * (source as Set<unknown>).size
        this.#content(node, SET, contentOfSet(source as Set<unknown>))
        break
      case Kind.Error:
        this.weight += weight.ERROR
        this.#content(node, ERROR, contentOfError(source))
        // Its class only: what a graph makes an empty error of.
        this.#copies[node] = emptyError(source)
        break
      case Kind.ArrayBuffer:
        this.#arrayBuffer(node, source as ArrayBuffer)
        break
      case Kind.Buffer:
        this.#buffer(node, source as Buffer)
        break
      case Kind.TypedArray:
      case Kind.DataView:
        this.#view(node, source as ArrayBufferView)
        break
      case Kind.Boxed:
        this.weight += weight.BOXED
        this.#set(node, Object(source.valueOf()), BOXED)
        break
      default:
        this.#instance(node, source)
    }
  }

  #set(node: number, copy: object, code: Code): void {
    this.#copies[node] = copy
    this.#codes[node] = code
    if (code >= SPARSE_ARRAY) this.#isTree = false
  }

  #plain(node: number, copy: object, place: number): void {
    this.#set(node, copy, place)
    const symbols = Object.getOwnPropertySymbols(copy)
    const flat = symbols.length === 0 ? weight.weighFields(copy) : -1
    if (flat >= 0) {
      this.weight += flat
      return
    }
    const before = this.#edgeCount
    this.#fields(node, copy, symbols)
    if (this.#edgeCount > before) this.#codes[node] |= HOLDS_OBJECTS
  }

  /** Goes through the properties of a copy that may hold objects. */
  #fields(node: number, copy: object, symbols: readonly symbol[]): void {
    let count = symbols.length
    for (const key in copy) {
      const value = (copy as Fields)[key]
      const bytes = weight.weighPrimitive(value)
      if (bytes >= 0) this.weight += bytes
      // Not what Object.prototype was given.
      else if (Object.hasOwn(copy, key)) this.#object(node, key, value)
      count++
    }
    this.weight += weight.OBJECT + weight.weighSlots(count)
    for (const symbol of symbols) {
      // A tree looks for objects under text keys only.
      this.#isTree = false
      this.#part(node, symbol, (copy as Fields)[symbol])
    }
  }

  #array(node: number, source: readonly unknown[]): void {
    if (isMatch(source)) throw this.#refused(node, MATCH)
    if (isSparse(source)) {
      const copy = copySparse(source)
      this.#set(node, copy, SPARSE_ARRAY)
      const places = sparsePlaces(copy)
      this.weight += weight.ARRAY + 3 * weight.SLOT * places.length
      for (const place of places) this.#part(node, place, copy[place])
      return
    }
    const copy = copyArray(source)
    this.#set(node, copy, ARRAY_CODE)
    const flat = weight.weighElements(copy)
    if (flat >= 0) {
      this.weight += flat
      return
    }
    const before = this.#edgeCount
    const { length } = copy
    this.weight += weight.ARRAY + weight.SLOT * length
    for (let place = 0; place < length; place++) this.#part(node, place, copy[place])
    if (this.#edgeCount > before) this.#codes[node] |= HOLDS_OBJECTS
  }

  /** A Map, Set or error, whose content is an object of its own in the queue. */
  #content(node: number, code: Code, content: unknown[]): void {
    this.#set(node, EMPTY, code)
    const array = this.#add(content, Kind.Array)
    this.#contents.push(node, array)
  }

  #regExp(node: number, source: RegExp): void {
    if (typeof source.lastIndex !== 'number') {
      throw this.#refused(node, 'lastIndex of a regular expression is a number')
    }
    const copy = copyRegExp(source)
    this.weight += weight.REGEXP + weight.weighString(copy.source)
    this.#set(node, copy, REGEXP)
  }

  #arrayBuffer(node: number, source: ArrayBuffer): void {
    if (source.resizable) throw this.#refused(node, 'a resizable ArrayBuffer cannot be copied')
    this.weight += weight.BUFFER + source.byteLength
    this.#set(node, source.slice(0), ARRAY_BUFFER)
    const view = this.#buffers.get(source)
    this.#buffers.set(source, node)
    if (view !== undefined && view !== node) this.#share(view, node)
  }

  #buffer(node: number, source: Buffer): void {
    this.#refuseShared(node, source)
    this.weight += weight.VIEW + source.length
    // A copy from the pool would keep all of the pool.
    const copy = Buffer.allocUnsafeSlow(source.length)
    copy.set(source)
    this.#set(node, copy, BUFFER)
  }

  #view(node: number, source: ArrayBufferView): void {
    this.#refuseShared(node, source)
    const memory = source.buffer as ArrayBuffer
    const other = this.#buffers.get(memory)
    this.weight += weight.VIEW
    if (other === undefined) {
      this.#buffers.set(memory, node)
      this.weight += weight.BUFFER + source.byteLength
      const name = typedArrayName(source)
      if (name === undefined) {
        const { byteOffset, byteLength } = source
        const copy = new DataView(memory.slice(byteOffset, byteOffset + byteLength))
        this.#set(node, copy, DATA_VIEW)
      } else {
        this.#set(node, new (typedArrays.get(name)!)(source as Uint8Array), TYPED_ARRAY)
      }
      return
    }
    this.#set(node, EMPTY, SHARED_VIEW)
    if (this.#sources[other] === memory) {
      this.#share(node, other)
      return
    }
    // Two views on one buffer, which becomes an object of the value.
    const found = this.#find(memory)
    const buffer = found >= 0 ? found : this.#add(memory, Kind.ArrayBuffer)
    this.#share(node, buffer)
    this.#share(other, buffer)
    this.#buffers.set(memory, buffer)
  }

  #share(view: number, buffer: number): void {
    this.#views.push(new SharedView(view, buffer, this.#sources[view] as ArrayBufferView))
  }

  #refuseShared(node: number, view: ArrayBufferView): void {
    const { buffer } = view
    if (!(Kind.ArrayBuffer === kindOf(buffer))) {
      throw this.#refused(node, 'memory that is shared between threads cannot be copied')
    }
    if ((buffer as ArrayBuffer).resizable) {
      throw this.#refused(node, 'a view on a resizable ArrayBuffer cannot be copied')
    }
  }

  #instance(node: number, source: object): void {
    const kept = this.#keep(node, source)
    if (kept !== undefined) {
      this.isMade = true
      this.weight += kept.weight
      this.#set(node, kept, INSTANCE)
      return
    }
    const copy = this.#copier.cloneInstance?.(source)
    if (typeof copy !== 'object' || copy === null) throw this.#refused(node, describe(source))
    this.weight += weight.weigh(copy)
    this.#set(node, copy, INSTANCE)
  }

  /** A value of a registered type; its parts are copied for themselves. */
  #keep(node: number, source: object): Kept | undefined {
    const copier = this.#copier
    const way = () => this.#wayTo(node)
    const named = namedIn(source, copier.types, way)
    if (named === undefined) return undefined
    if (copier.level === MAX_DEPTH) throw this.#refused(node, 'registered types without an end')
    copier.level++
    try {
      const stored = copier.copyIn(named.value, way)
      return new Kept(named.name, stored, copier.plan, copier.weight + KEPT_BYTES, copier.types)
    } finally {
      copier.level--
    }
  }

  /** Looks at a value that an object holds. */
  #part(holder: number, key: PropertyKey, value: unknown): void {
    const bytes = weight.weighPrimitive(value)
    if (bytes >= 0) this.weight += bytes
    else this.#object(holder, key, value)
  }

  /** Looks at an object that an object holds, or at what is neither an object nor primitive. */
  #object(holder: number, key: PropertyKey, value: unknown): void {
    if (typeof value !== 'object') {
      this.#edge(holder, key, -1)
      throw refused(this.#wayTo(-1), describe(value))
    }
    const object = value as object
    if (object === this.#last) {
      this.#isTree = false
      this.#edge(holder, key, this.#lastPlace)
      return
    }
    let place = this.#find(object)
    if (place >= 0) {
      this.#isTree = false
    } else {
      const kind = safeKindOf(object)
      if (kind === Kind.Immutable) {
        this.#keepsInstances = true
        this.weight += weight.UNKNOWN
        return
      }
      place = this.#add(object, kind)
    }
    this.#edge(holder, key, place)
    this.#last = object
    this.#lastPlace = place
  }

  #edge(holder: number, key: PropertyKey, held: number): void {
    const edges = this.#edges
    const at = this.#edgeCount
    edges[at] = holder
    edges[at + 1] = key
    edges[at + 2] = held
    this.#edgeCount = at + 3
  }

  /** Puts an object into the queue. */
  #add(object: object, kind: Kind): number {
    const node = this.#count++
    this.#sources[node] = object
    this.#copies[node] = undefined
    this.#codes[node] = kind
    return node
  }

  /**
   * The place of an object that was found before, or -1: then it is expected to be added, unless it is immutable.
   */
  #find(object: object): number {
    const sources = this.#sources
    const count = this.#count
    if (count <= FEW) {
      for (let node = 0; node < count; node++) if (sources[node] === object) return node
      return -1
    }
    const seen = this.#seen
    if (seen.size === 0) for (let node = 0; node < count; node++) seen.add(sources[node] as object)
    const { size } = seen
    // One look where a table of places would take two: most objects are not found.
    seen.add(object)
    return seen.size > size ? -1 : this.#placeOf(object)
  }

  #placeOf(object: object): number {
    const places = this.#places
    for (; this.#placed < this.#count; this.#placed++) {
      places.set(this.#sources[this.#placed] as object, this.#placed)
    }
    // An immutable one is seen and has no place.
    return places.get(object) ?? -1
  }

  #refused(node: number, reason: string): Error {
    return refused(this.#wayTo(node), reason)
  }

  /** The path to an object, or, for -1, to a value that could not become one. */
  #wayTo(node: number): Segment[] {
    const way = wayTo(node, {
      edges: this.#edges,
      edgeCount: this.#edgeCount,
      contents: this.#contents,
      nodes: this.#sources,
      codeOf: (at) => this.#codes[at],
    })
    return [...this.#way(), ...way]
  }

  /** Lets go of everything. */
  reset(): void {
    if (this.#count > LARGE || this.#edgeCount > LARGE) {
      this.#sources = []
      this.#copies = []
      this.#codes = []
      this.#edges = []
      this.#seen = new Set()
    } else {
      this.#sources.fill(undefined, 0, this.#count)
      this.#copies.fill(undefined, 0, this.#count)
      // Their keys may be long texts.
      this.#edges.fill(undefined, 0, this.#edgeCount)
      if (this.#seen.size > 0) this.#seen.clear()
    }
    this.#count = 0
    this.#edgeCount = 0
    this.#last = undefined
    if (this.#placed > 0) {
      this.#places = new Map()
      this.#placed = 0
    }
    if (this.#contents.length > 0) this.#contents.length = 0
    if (this.#views.length > 0) this.#views.length = 0
    if (this.#buffers.size > 0) this.#buffers.clear()
    this.#isTree = true
    this.#keepsInstances = false
    this.isMade = false
    this.#way = TO_THE_VALUE
    this.weight = 0
  }
}
