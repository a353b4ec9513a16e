import type { Slots } from './slots.ts'

/**
 * Which entry goes when there is no room. A policy puts slots into order; what becomes of a slot that it chooses is the
 * store's. What it wants to know of hits stands in the state: each sets VISITED, and ORDERED asks for a call of `hit`.
 */
export interface Policy {
  /** What the state of a new entry's slot begins with. */
  readonly initial: number
  /** A key that is not there is about to come in; `full` when others have to make room for it. */
  arrive(key: unknown, full: boolean): void
  /** Lets an entry leave, or does something that leads there. Called while there is no room, so there is one. */
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
