import type { Slots } from './slots.ts'

/**
 * Which entry goes when there is no room. A policy puts slots into order; it neither frees them nor knows keys and
 * values. What it wants to know of hits stands in the state: each sets VISITED, and ORDERED asks for a call of `hit`.
 */
export interface Policy {
  /** What the state of a new entry's slot begins with. */
  readonly initial: number
  /** A new entry. */
  add(slot: number): void
  /** A remembered key is asked for by a write: it is forgotten, and will be readmitted when there is room. */
  recall(slot: number): void
  /** A recalled key has a value again. */
  readmit(slot: number): void
  /** An ORDERED slot was read or written. */
  hit(slot: number): void
  /** An entry is deleted, or has expired. */
  remove(slot: number): void
  /** Chooses an entry and takes it out; there is one. To have its key remembered it sets the state to GHOST. */
  evict(): number
  /** A remembered key that is one too many, taken out; or -1. */
  forget(): number
  clear(): void
}

/** Most entries, and most bytes that they weigh. */
export interface Bounds {
  readonly maxEntries: number
  readonly maxBytes: number
}

export type PolicyMaker = (slots: Slots<unknown, unknown>, bounds: Bounds) => Policy
