import { type AnyHandle, type Counts, noCounts } from '../any-namespace.ts'
import type { Watching } from '../flight.ts'
import { guarded, native } from '../host/native.ts'
import { Closed } from '../more-errors.ts'
import type { WaitingOptions } from '../options.ts'
import type { MachineStats, RemoteStats, Usage } from '../stats.ts'
import type { StoreErrors } from '../unstored.ts'
import type { RemoteLock } from './lock.ts'
import { asked, type NativeRemote, type RemoteOperations, type RemoteOptions } from './native.ts'
import { serveSockets } from './sockets.ts'

/** The callbacks of this isolate. */
let operations: RemoteOperations | undefined

/** An open cache with a remote tier: what a `Cache` and the caches of its namespaces share. */
export class RemoteHandle implements AnyHandle {
  /** The root of its namespaces. */
  readonly native: NativeRemote
  readonly calls: RemoteOperations
  readonly clock: (() => number) | undefined
  /** What is counted here; the native part counts the rest. */
  readonly counts: Counts = noCounts()
  readonly leaseTimeout: number
  readonly waitTimeout: number
  readonly storeErrors: StoreErrors
  readonly reported: Set<string> = new Set()
  /** A memory tier would ask the directory whether an object stands, which knows nothing of the server. */
  readonly bounds: undefined
  /** Those that it has. */
  readonly locks: Set<RemoteLock> = new Set()
  readonly #hasDirectory: boolean
  watch: Watching | undefined
  closed = false
  #closing: Promise<void> | undefined

  constructor(options: RemoteOptions, waiting: WaitingOptions, clock: (() => number) | undefined) {
    const { NativeRemote, remoteOperations } = native()
    operations ??= remoteOperations()
    serveSockets()
    this.calls = operations
    this.native = guarded(() => NativeRemote.open(options))
    this.clock = clock
    this.#hasDirectory = options.path !== undefined
    this.leaseTimeout = waiting.leaseTimeout
    this.waitTimeout = waiting.waitTimeout
    this.storeErrors = waiting.storeErrors
  }

  get loads(): object {
    return this
  }

  counted(): Counts & { memoryHits: number } {
    const { counts } = this
    const { hits, misses, writes, deletes, invalidatedLoads } = guarded(() => this.native.stats())
    return {
      hits: hits + counts.hits,
      misses: misses + counts.misses,
      writes,
      deletes: deletes,
      invalidatedLoads,
      unstored: counts.unstored,
      waitTimeouts: counts.waitTimeouts,
      memoryHits: 0,
    }
  }

  machineStats(): MachineStats | undefined {
    this.check()
    return guarded(() => this.native.machineStats()) ?? undefined
  }

  remoteStats(): RemoteStats {
    const { lag, ...stats } = guarded(() => this.native.remoteStats())
    return { ...stats, lag: lag ?? undefined }
  }

  usage(most: number): Promise<Usage[]> | undefined {
    this.check()
    if (!this.#hasDirectory) return undefined
    this.setTime()
    return asked(this.calls.usage(this.native.number, most)) as Promise<Usage[]>
  }

  /** @throws Closed */
  check(): void {
    if (this.closed) throw new Closed('the cache was closed; open another')
  }

  /** Sets the time of a cache with its own clock. */
  setTime(): void {
    if (this.clock !== undefined) this.native.setClock(this.clock())
  }

  /** Locks and loads are given back to the server; it does not fail when that does not answer. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.closed = true
    await Promise.allSettled([...this.locks].map((lock) => lock.release()))
    await asked(this.calls.close(this.native.number))
  }
}
