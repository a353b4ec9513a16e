import { Closed } from '../errors.ts'
import type { AnyHandle, Counts } from '../keyspace.ts'
import { MemoryCore } from './core.ts'
import { NamedEntries } from './named-entries.ts'
import type { MemoryCacheOptions } from './options.ts'
import type { Bounds } from './policy.ts'
import { WeakNamespaces } from './weak-namespaces.ts'

/** What the namespaces of a cache share that has the memory tier alone. */
export class MemoryHandle implements AnyHandle {
  readonly core: MemoryCore<string, unknown>
  readonly counts: Counts = {
    hits: 0,
    misses: 0,
    writes: 0,
    deletes: 0,
    voidedFills: 0,
  }
  readonly leaseTimeout: number
  closed = false
  /** With entries, they are held by these. */
  readonly #namespaces = new WeakNamespaces<NamedEntries>()

  /** @throws InvalidArgument */
  constructor(options: MemoryCacheOptions<string>, leaseTimeout: number) {
    this.core = new MemoryCore(options)
    this.leaseTimeout = leaseTimeout
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

  check(): void {
    if (this.closed) throw new Closed('the cache was closed; open another')
  }

  /** The entries of a namespace; the same for all that have it open. */
  entriesOf(parts: readonly string[], prefix: string): NamedEntries {
    return this.#namespaces.of(prefix, () => new NamedEntries(this.core, parts))
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
    this.closed = true
  }
}
