import { Ghosts } from './ghosts.ts'
import { NO_HASH } from './hash.ts'

/**
 * Admits a value when it comes for the second time within a while (`spec/memory.md`, "Admission"). Reading far more
 * keys than the tier holds then costs only a look here, and not an entry in and another out.
 */
export class Doorkeeper {
  readonly #turnedAway = new Ghosts()

  /**
   * Whether the value of a host slot is among the last `entries` that were turned away: as many as the tier holds. If
   * not, it is turned away, too, and remembered.
   */
  admits(slot: number, entries: number): boolean {
    const hash = spread(slot)
    if (this.#turnedAway.recall(hash, entries) >= 0) return true
    this.#turnedAway.bury(hash, 0, entries)
    return false
  }

  clear(): void {
    this.#turnedAway.clear()
  }
}

/** Other numbers for slots up to 2^32, whose lower bits differ where any of theirs do: those choose a chain. */
function spread(slot: number): number {
  const mixed = Math.imul(slot, 0x9e3779b1)
  // Of slot 0 alone it is 0.
  return (mixed << 16) | (mixed >>> 16) || ~NO_HASH
}
