import type { MemoryCore } from './core.ts'
import { MemoryEntries } from './entries.ts'
import type { Lease } from './loads.ts'

/** The entries of one namespace in memory, by the names of their keys, and the loads under way. */
export class NamedEntries extends MemoryEntries<string, unknown> {
  readonly parts: readonly string[]
  readonly loads: Map<string, Lease> = new Map()

  constructor(core: MemoryCore<string, unknown>, parts: readonly string[]) {
    super(core as never)
    this.parts = parts
  }

  /** Whether its namespace is that of `parts`, or nested in it. */
  isIn(parts: readonly string[]): boolean {
    return parts.every((part, place) => this.parts[place] === part)
  }
}
