import type { Slots } from './slots.ts'

/**
 * Decides which entry goes when there is no room. A policy orders slots; the store does what follows for a slot that it
 * chooses. It learns of hits from the state: each sets VISITED, and ORDERED asks for a call of `hit`.
 */
export interface Policy {
  /** What the state of a new entry's slot begins with. */
  readonly initial: number
  /** A new key is about to come in; `full` when others have to make room for it. */
  arrive(key: unknown, full: boolean): void
  /** Lets an entry leave, or takes a step towards that. Called while there is no room, so there is one. */
  evict(): void
  /** The key that arrived has a slot now. */
  add(slot: number): void
  /** An ORDERED slot was read or written. */
  hit(slot: number): void
  /** An entry is deleted, or has expired. */
  remove(slot: number): void
  clear(): void
  /** All slots, the one that was used last first: for a policy that goes by that. */
  byUse?(): number[]
}

/** Most entries, and most bytes that they weigh. */
export interface Bounds {
  readonly maxEntries: number
  readonly maxBytes: number
}

/** Makes a policy. It calls `leave` with each slot that it has chosen, and taken out. */
export type PolicyMaker = (slots: Slots<unknown, unknown>, leave: (slot: number) => void) => Policy
