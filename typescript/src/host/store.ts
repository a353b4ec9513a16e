import { type BigIntStats, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { Mapping } from './mapping.ts'
import { type Layout, type NativeStore, native, type OpenOptions, typed } from './native.ts'

/** The stores of this isolate that handles may share. */
const stores = new Map<string, HostStore>()
/** All that are open. */
const opened = new Set<HostStore>()

/**
 * A directory as this isolate has it open: the native store and the ArrayBuffers over its mapping. Handles with the
 * same options share it: a mapping costs address space and page tables, and a directory has few participant ids.
 */
export class HostStore {
  readonly native: NativeStore
  readonly layout: Layout
  /** Absent where JavaScript must not read the mapping itself. */
  readonly mapping: Mapping | undefined
  #name: string | undefined
  /** Which directory it is. */
  readonly #place: string | undefined
  #handles = 1

  private constructor(options: OpenOptions) {
    this.native = native().NativeStore.open(options)
    this.layout = this.native.layout()
    this.mapping = options.unmapped ? undefined : Mapping.of(this.native, this.layout)
    const index = indexOf(options.path)
    this.#place = index && `${index.dev} ${index.ino}`
    opened.add(this)
  }

  /** Opens a directory, or takes what another handle of this isolate opened; either way `release` ends it. */
  static open(options: OpenOptions): HostStore {
    try {
      const shared = stores.get(nameOf(options) ?? '')
      if (shared !== undefined) {
        shared.#handles++
        return shared
      }
      const store = new HostStore(options)
      // The directory may not have been there before.
      store.#name = store.layout.readOnly ? undefined : nameOf(options)
      if (store.#name !== undefined) stores.set(store.#name, store)
      return store
    } catch (failure) {
      throw typed(failure)
    }
  }

  /** The other stores of this isolate over the same directory: with other options, or a clock of their own. */
  siblings(): HostStore[] {
    return [...opened].filter((other) => other !== this && other.#place === this.#place)
  }

  /** Lets go of the store; the last handle closes it. */
  release(): void {
    if (--this.#handles > 0) return
    if (this.#name !== undefined) stores.delete(this.#name)
    opened.delete(this)
    this.mapping?.detach()
    this.native.close()
  }
}

/**
 * What a store is shared under: its index file, so that a directory that was removed and created again is another one,
 * its path, because the same directory may be mounted read-only at another one, and its options. A store with its own
 * clock is not shared, nor is a directory that does not exist yet, nor one that could only be read, because this process
 * may be given the rights to write.
 */
function nameOf(options: OpenOptions): string | undefined {
  if (options.manualClock) return undefined
  const index = indexOf(options.path)
  if (index === undefined) return undefined
  const { limit, mode, leaseTimeout, emptyAtBoot, flushEvery, unmapped } = options
  const file = [index.dev, index.ino, resolve(options.path)]
  return [...file, limit, mode, leaseTimeout, emptyAtBoot, flushEvery, unmapped].join()
}

function indexOf(path: string): BigIntStats | undefined {
  try {
    // The folder of the only layout so far. With another, nothing is shared, which is safe.
    return statSync(resolve(path, 'v2', 'index'), { bigint: true, throwIfNoEntry: false })
  } catch {
    // Without permission, for example: opening it throws a typed error.
    return undefined
  }
}
