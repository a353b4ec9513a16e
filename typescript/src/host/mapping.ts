import { type FastBuffer, fastBuffer } from '../entry/fast-buffer.ts'
import { readsMapping } from './engines.ts'
import { type Layout, type NativeStore, native } from './native.ts'

/** One window of blocks, seen in the ways that reading needs. */
export interface Window {
  readonly words: Int32Array
  readonly bytes: FastBuffer
  readonly view: DataView
}

/** A slot's visited byte counts reads up to this. */
export const MOST_READS = 3

/** The index is read in place up to this size: offsets stay small integers. */
const LARGEST_INDEX = 2 ** 30

/** The mapped files of a directory as ArrayBuffers: one over the index, one over each window of blocks that is read. */
export class Mapping {
  readonly layout: Layout
  /** The index as 32-bit words: EPOCH's and the slots' halves are what `Atomics.load` looks at. */
  readonly index: Int32Array
  /** The same as bytes, for the visited ones. */
  readonly indexBytes: Uint8Array
  readonly #store: NativeStore
  readonly #windows: (Window | null)[]
  readonly #buffers: ArrayBuffer[]

  private constructor(store: NativeStore, layout: Layout, index: ArrayBuffer) {
    this.#store = store
    this.layout = layout
    this.index = new Int32Array(index)
    this.indexBytes = new Uint8Array(index)
    this.#windows = new Array(Math.ceil(layout.blocksLength / layout.windowSize)).fill(null)
    this.#buffers = [index]
  }

  /**
   * The mapping of a store, or undefined where JavaScript must not read it: in untested engines, on processors that
   * reorder loads (on ARM64 a load does not order those before it, and JavaScript has no fence), in engines without
   * external memory (Electron), for an index that no typed array can hold, and for pages that may only be read:
   * JavaScript counts reads there, and an engine may make an `Atomics.load` of a read and a write.
   */
  static of(store: NativeStore, layout: Layout): Mapping | undefined {
    if (!readsMapping(process.versions)) return undefined
    if (layout.readOnly || !layout.orderedLoads || layout.indexLength > LARGEST_INDEX)
      return undefined
    const index = store.indexBuffer()
    return index ? new Mapping(store, layout, index) : undefined
  }

  /** A window, mapped when it is first read; undefined when there is none with this number. */
  window(number: number): Window | undefined {
    return this.#windows[number] ?? this.#map(number)
  }

  /** Takes the memory from every view, before it goes. */
  detach(): void {
    for (const buffer of this.#buffers.splice(0)) native().detach(buffer)
  }

  #map(number: number): Window | undefined {
    if (number >= this.#windows.length) return undefined
    const buffer = this.#store.windowBuffer(number)
    if (!buffer) return undefined
    this.#buffers.push(buffer)
    const window = {
      words: new Int32Array(buffer),
      bytes: fastBuffer(buffer),
      view: new DataView(buffer),
    }
    this.#windows[number] = window
    return window
  }
}
