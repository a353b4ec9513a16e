import type { MemoryCore } from './core.ts'
import { MemoryEntries } from './entries.ts'
import type { Timed } from './entry.ts'
import type { Lease } from './loads.ts'
import { full, tooHeavy } from './refusals.ts'

/** Which write or touch each slot's entry is from, counted over all namespaces: no two entries have one version. */
export class Versions {
  last = 0
  readonly bySlot: number[] = []
}

/** The entries of one namespace in memory, by the names of their keys, and the loads under way. */
export class NamedEntries extends MemoryEntries<string, unknown> {
  readonly parts: readonly string[]
  readonly loads: Map<string, Lease> = new Map()
  readonly #versions: Versions

  constructor(core: MemoryCore<string, unknown>, parts: readonly string[], versions: Versions) {
    super(core as never)
    this.parts = parts
    this.#versions = versions
  }

  /** Whether its namespace is that of `parts`, or nested in it. */
  isIn(parts: readonly string[]): boolean {
    return parts.every((part, place) => this.parts[place] === part)
  }

  /** Stores a value; `ttl` is in the form of `given` in `../expiry.ts`. */
  store(name: string, value: unknown, ttl: number): void {
    if (ttl === 0) this.set(name, value)
    else this.put(name, value, this.#timed(ttl))
  }

  /**
   * Stores a value if `stands` says so, right before; whether it did. Without `ttl` the entry keeps its time to live.
   * @throws what `set` does, after which nothing has changed
   */
  storeIf(name: string, value: unknown, ttl: number | undefined, stands: () => boolean): boolean {
    const slot = ttl === undefined ? this.slotOf(name) : undefined
    const kept = slot === undefined ? undefined : this.core.slots.timesOf(slot)
    const { heaviest, store, behaviour } = this.core
    const standsBy = (weight: number) => {
      // What has no room is refused before anything is superseded.
      if (weight > heaviest) throw tooHeavy(weight, heaviest, store.bounds)
      if (!stands()) return false
      if (!behaviour.refuses || store.hasRoom(this.slotOf(name), weight)) return true
      throw full(store.bounds)
    }
    return this.put(name, value, { ...(kept ?? this.#timed(ttl ?? 0)), stands: standsBy })
  }

  /** Gives an entry another time to live, in the same form; false when there is none. */
  renew(name: string, ttl: number): boolean {
    const timed = this.#timed(ttl)
    return this.touchFor(name, timed.ttl, timed.expires)
  }

  /** The version of the key's entry; undefined when there is none. */
  version(name: string): number | undefined {
    return this.has(name) ? this.#versions.bySlot[this.slotOf(name) as number] : undefined
  }

  protected override renewed(slot: number): void {
    const versions = this.#versions
    versions.bySlot[slot] = ++versions.last
  }

  #timed(ttl: number): Timed {
    const { idle } = this.core
    if (ttl >= 0) return { ttl, idle }
    // What has expired already counts as just written, too.
    const left = Math.max(-ttl - this.core.clock.exactly(), 1)
    return { ttl: left, idle, expires: -ttl }
  }
}
