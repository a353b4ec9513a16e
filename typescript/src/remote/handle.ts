import type { AnyHandle, Counts } from '../any-namespace.ts'
import type { Types } from '../entry/registered.ts'
import type { Watching } from '../flight.ts'
import { guarded, native } from '../host/native.ts'
import type { ResolvedMemory } from '../memory/options.ts'
import { MemoryOverRemote } from '../memory/over-remote.ts'
import type { Bounds } from '../memory/policy.ts'
import { Closed } from '../more-errors.ts'
import type { WaitingOptions } from '../options.ts'
import type { MachineStats, RemoteStats, Usage } from '../stats.ts'
import type { StoreErrors } from '../unstored.ts'
import { asked } from './answers.ts'
import { RemoteCounts } from './counts.ts'
import type { RemoteLock } from './lock.ts'
import type { NativeRemote, RemoteOperations, RemoteOptions } from './native.ts'
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
  readonly counts: Counts
  readonly leaseTimeout: number
  readonly waitTimeout: number
  readonly storeErrors: StoreErrors
  readonly reported: Set<string> = new Set()
  /** Absent if it is not wanted. */
  readonly memory: MemoryOverRemote | undefined
  readonly bounds: Bounds | undefined
  /** Those that it has. */
  readonly locks: Set<RemoteLock> = new Set()
  /** Whether no copy of this host is ever served. */
  readonly readsThrough: boolean
  readonly #hasDirectory: boolean
  watch: Watching | undefined
  closed = false
  #closing: Promise<void> | undefined

  constructor(
    options: RemoteOptions,
    waiting: WaitingOptions,
    clock: (() => number) | undefined,
    memory: ResolvedMemory | undefined,
    types: Types | undefined,
  ) {
    const { NativeRemote, remoteOperations } = native()
    operations ??= remoteOperations()
    serveSockets()
    this.calls = operations
    this.native = guarded(() => NativeRemote.open(options))
    this.counts = new RemoteCounts(this.native)
    this.clock = clock
    this.memory = memory && new MemoryOverRemote(operations, this.native.number, memory, types)
    this.bounds = memory?.bounds
    this.readsThrough = options.maxStaleness === 0
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
    const memoryHits = this.memory?.hits ?? 0
    return {
      hits: hits + counts.hits + memoryHits,
      misses: misses + counts.misses,
      writes,
      deletes: deletes,
      invalidatedLoads,
      unstored: counts.unstored,
      waitTimeouts: counts.waitTimeouts,
      memoryHits,
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
    this.memory?.close()
    await Promise.allSettled([...this.locks].map((lock) => lock.release()))
    await asked(this.calls.close(this.native.number))
  }
}
