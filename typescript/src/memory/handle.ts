import { type AnyHandle, type Counts, noCounts } from '../any-namespace.ts'
import type { Types } from '../entry/registered.ts'
import type { Watching } from '../flight.ts'
import { Closed } from '../more-errors.ts'
import type { WaitingOptions } from '../options.ts'
import type { StoreErrors } from '../unstored.ts'
import { type MakeKeeper, MemoryCore } from './core.ts'
import { NamedEntries, Versions } from './named-entries.ts'
import type { MemoryCacheOptions } from './options.ts'
import type { Bounds } from './policy.ts'
import { TypedKeeper } from './typed-keeper.ts'
import { WeakNamespaces } from './weak-namespaces.ts'

/** Values are those of the type map, unless the caller wants to keep others. */
const typed: MakeKeeper = (isolation, weighs, cloneInstance, types) =>
  isolation === 'none' || cloneInstance !== undefined
    ? undefined
    : new TypedKeeper(isolation, weighs, types)

/** What the namespaces share in a cache with the memory tier alone. */
export class MemoryHandle implements AnyHandle {
  readonly core: MemoryCore<string, unknown>
  readonly counts: Counts = noCounts()
  readonly leaseTimeout: number
  readonly waitTimeout: number
  readonly storeErrors: StoreErrors
  readonly reported: Set<string> = new Set()
  /** The holder of each name's lock, by the full key. */
  readonly locks: Map<string, object> = new Map()
  watch: Watching | undefined
  closed = false
  readonly #versions = new Versions()
  /** With entries, they are held by these. */
  readonly #namespaces = new WeakNamespaces<NamedEntries>()

  /** @throws InvalidArgument */
  constructor(
    options: MemoryCacheOptions<string>,
    waiting: WaitingOptions,
    types: Types | undefined,
  ) {
    this.core = new MemoryCore(options, typed, types)
    this.leaseTimeout = waiting.leaseTimeout
    this.waitTimeout = waiting.waitTimeout
    this.storeErrors = waiting.storeErrors
  }

  get bounds(): Bounds {
    return this.core.store.bounds
  }

  get loads(): object {
    return this
  }

  counted(): Counts & { memoryHits: number } {
    return { ...this.counts, memoryHits: this.counts.hits }
  }

  /** No other process sees this cache. */
  machineStats(): undefined {
    this.check()
  }

  usage(): undefined {
    this.check()
  }

  check(): void {
    if (this.closed) throw new Closed('the cache was closed; open another')
  }

  /** The entries of a namespace; the same for all that have it open. */
  entriesOf(parts: readonly string[], prefix: string): NamedEntries {
    return this.#namespaces.of(prefix, () => new NamedEntries(this.core, parts, this.#versions))
  }

  /** Clears a namespace and those nested in it. */
  clear(parts: readonly string[]): void {
    for (const entries of this.#namespaces) {
      if (!entries.isIn(parts)) continue
      entries.loads.clear()
      entries.clear()
    }
  }

  countLoads(): number {
    let loads = 0
    for (const entries of this.#namespaces) loads += entries.loads.size
    return loads
  }

  close(): void {
    if (this.closed) return
    this.clear([])
    this.locks.clear()
    this.closed = true
  }
}
