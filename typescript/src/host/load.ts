import type { Counts } from '../any-namespace.ts'
import type { Scratch } from '../entry/scratch.ts'
import { type PayloadWriter, readPayload, type WriterPool } from '../entry/serializer.ts'
import { measure } from '../entry/weight.ts'
import { type Brought, HIT, LOAD, type SyncLoad, TIMED_OUT } from '../flight.ts'
import type { Key } from '../key.ts'
import type { Lock } from '../lease.ts'
import type { Lifetime } from '../lifetime.ts'
import {
  guarded,
  LOAD_NOW,
  type Operations,
  REFUSED,
  STORED,
  typed,
  WAITED_IN_VAIN,
  WAITS,
} from './native.ts'

/** What loads and writes on a condition need of the namespace whose keys they change. */
export interface LoadedInto {
  readonly number: number
  readonly calls: Operations
  readonly serializer: number
  readonly scratch: Scratch
  readonly waitTimeout: number
  readonly maxValue: number
  readonly counts: Counts
  /**
   * Where the key is for a native call that follows at once.
   * @throws Closed
   */
  readonly begin: (key: Key) => {
    readonly bytes: Uint8Array
    readonly from: number
    readonly to: number
  }
  /** What is handed out of a decoded or loaded value: by the registered types, and frozen if readers get it so. */
  readonly finish: (value: unknown) => unknown
  /** Decodes what the native part left in the scratch buffer. */
  readonly take: (length: number) => unknown
  /** The key's value, not yet finished, without a use of the entry; its facts are in `seen`. */
  readonly see: (key: Key) => { value: unknown } | undefined
  /** What the memory tier has of a key was superseded. */
  readonly forget: (key: Key) => void
  /** An operation was counted. */
  readonly operated: () => void
  readonly lifetime: Lifetime
  readonly writers: WriterPool
  /** The locks that the handle has: it gives them back when it is closed. */
  readonly locks: Set<Lock>
}

/** The machine of `crates/operations`, over a directory: see `native/src/loads.rs`. */
export class HostLoad implements SyncLoad {
  value: unknown
  readonly #into: LoadedInto
  readonly #key: Key
  /** -1 when it is over. */
  #number: number

  constructor(into: LoadedInto, key: Key) {
    this.#into = into
    this.#key = key
    this.#number = into.calls.loadBegin(into.waitTimeout)
  }

  isOpen(): boolean {
    if (this.#number < 0) return false
    const { calls, number } = this.#into
    return guarded(() => calls.loadOpen(number, this.#number))
  }

  step(waited: number, beside = false): number {
    const { calls, number, scratch, counts, begin } = this.#into
    for (;;) {
      const { bytes, from, to } = begin(this.#key)
      const answer = guarded(() =>
        calls.loadStep(
          number,
          bytes,
          from,
          to,
          scratch.bytes,
          this.#number,
          waited,
          beside ? 1 : 0,
        ),
      )
      if (answer <= WAITS) return Math.max((WAITS - answer) / 1000, 0.001)
      if (answer === WAITED_IN_VAIN) return TIMED_OUT
      if (answer === LOAD_NOW) {
        counts.misses++
        this.#into.operated()
        return LOAD
      }
      if (answer <= scratch.bytes.length) {
        counts.hits++
        this.value = this.#into.finish(this.#into.take(answer))
        return HIT
      }
      // The machine has ended with its hit: what it found is read again.
      this.#restart()
      scratch.reserve(answer)
    }
  }

  fill(value: unknown, ttl: number, shared: boolean): Brought {
    const { writers } = this.#into
    const writer = writers.take()
    try {
      return this.#write(writer, value, ttl, shared)
    } finally {
      writers.give(writer)
    }
  }

  abandon(): void {
    if (this.#number < 0) return
    const ended = this.#end()
    this.#into.calls.loadEnd(this.#into.number, ended)
  }

  #write(writer: PayloadWriter, value: unknown, ttl: number, shared: boolean): Brought {
    let length: number
    try {
      length = writer.write(value)
    } catch (failure) {
      // A value without an entry has no copies.
      const own = () => value
      return { own, copy: shared ? own : undefined, stored: false, failure }
    }
    let stored = false
    let failure: unknown
    try {
      const measured = measure(writer, length, this.#into.maxValue)
      stored = this.#store(writer.bytes, measured, ttl)
    } catch (error) {
      failure = typed(error)
    }
    const { converted } = writer
    const given = () => this.#into.finish(value)
    if (!shared && !converted) return { own: given, copy: undefined, stored, failure }
    const payload = writer.bytes.slice(0, length)
    const copy = () => read(this.#into, payload)
    const own = converted ? () => this.#into.finish(copy()) : given
    return { own, copy: shared ? copy : undefined, stored, failure }
  }

  #store(payload: Uint8Array, measured: number, ttl: number): boolean {
    const { calls, number, counts, begin } = this.#into
    // A getter of the value may have closed the cache.
    const { bytes, from, to } = begin(this.#key)
    const ended = this.#end()
    const filled = calls.loadFill(number, bytes, from, to, payload, measured, ttl, ended)
    if (filled === STORED) counts.writes++
    else if (filled === REFUSED) counts.invalidatedLoads++
    this.#into.operated()
    return filled === STORED
  }

  #end(): number {
    const ended = this.#number
    this.#number = -1
    return ended
  }

  #restart(): void {
    this.abandon()
    this.#number = this.#into.calls.loadBegin(this.#into.waitTimeout)
  }
}

/** A value of one's own, to be finished by the cache of whoever gets it. */
export function read({ scratch, serializer }: LoadedInto, payload: Uint8Array): unknown {
  const { length } = payload
  scratch.reserve(length)
  scratch.bytes.set(payload)
  try {
    return readPayload(serializer, scratch, 0, length, Number.POSITIVE_INFINITY)
  } finally {
    scratch.trim()
  }
}

/** Another value like one that was handed out; that one itself where it has no copies. */
export function copyOf(into: LoadedInto, value: unknown): unknown {
  const { writers, finish } = into
  const writer = writers.take()
  try {
    const length = writer.write(value)
    return finish(read(into, writer.bytes.slice(0, length)))
  } catch {
    return value
  } finally {
    writers.give(writer)
  }
}
