import type { Types } from '../entry/registered.ts'
import { revive, Unrevived } from '../entry/revive.ts'
import { Doorkeeper } from './doorkeeper.ts'
import { Keeper } from './keeper.ts'
import type { ResolvedMemory } from './options.ts'
import { AS_IS } from './plan.ts'
import { COPIED, Slots, TIMED } from './slots.ts'
import { Store } from './store.ts'
import { Graph } from './stored.ts'
import { WeakNamespaces } from './weak-namespaces.ts'
import { weighKey } from './weigh.ts'

/** The keys of one namespace that are in memory, to slots of the memory tier. */
export type SlotsByKey = Map<string, number>

/** Where a value was read in the tier below. */
export interface ReadAt {
  /** A number of that place there, for the admission. */
  readonly slot: number
  /** Milliseconds since 1970. */
  readonly created: number
  /** Until when it may be served without a look there, 0 for ever: it expires, or a read is to prolong it. */
  readonly keptUntil: number
}

/** The columns of such a memory tier: those of any memory cache, and whose keys they are. */
export class TierSlots extends Slots<string, unknown> {
  /** The namespace's keys that have the slot's key. */
  readonly slotsByKey: (SlotsByKey | undefined)[] = []
}

/**
 * A memory tier over another one: values that were read there and decoded, each with where that was. What reads it, and
 * tells whether the tier below would give the same, is the subclasses'.
 */
export abstract class MemoryOverTier<O extends ReadAt, S extends TierSlots> {
  /** Values that were handed out. */
  hits = 0
  /** Whether what is stored is itself handed out. */
  readonly shares: boolean
  /** Whether what is handed out is frozen. */
  readonly freezes: boolean
  protected readonly slots: S
  protected readonly store: Store<string, unknown>
  readonly #doorkeeper = new Doorkeeper()
  readonly #keeper: Keeper
  readonly #namespaces = new WeakNamespaces<SlotsByKey>()

  constructor(slots: S, options: ResolvedMemory, types: Types | undefined) {
    const { bounds, policy, isolation, cloneInstance } = options
    this.slots = slots
    this.store = new Store(slots, bounds, policy, (slot) => this.#drop(slot))
    const isWeighed = bounds.maxBytes !== Number.POSITIVE_INFINITY
    this.#keeper = new Keeper(isolation, isWeighed, cloneInstance, types)
    this.freezes = isolation === 'freeze'
    this.shares = isolation === 'none'
  }

  /** Keeps where the value of a slot was read. */
  protected abstract place(slot: number, origin: O): void

  /** The same place, to be kept while other code runs. */
  protected abstract held(origin: O): O

  /** The keys of a namespace that are in memory; the same Map for all that have that namespace open. */
  slotsOf(prefix: Uint8Array): SlotsByKey {
    return this.#namespaces.of(Buffer.from(prefix).toString('latin1'), () => new Map())
  }

  /** Whether a value just read, of a key that is not here, is not to be kept: `spec/memory.md`, "Admission". */
  turnsAway(origin: O): boolean {
    const store = this.store
    return store.isCrowded && !this.#doorkeeper.admits(origin.slot, store.live)
  }

  /** What a reader gets of a value that is not kept; a `Graph` as `remember` gives one. */
  giveOnly(value: unknown): unknown {
    if (!this.freezes) return value
    try {
      return this.#keeper.keep(value)
    } catch {
      // It has no frozen form.
      return value
    }
  }

  /**
   * What is handed out of a value that was just read. `isNew` if this tier had nothing of the key. The code of registered
   * types runs last: it may use the cache, and `origin` is lost then.
   */
  receive(
    slotsByKey: SlotsByKey,
    key: string,
    found: Unrevived,
    origin: O,
    isNew: boolean,
    { types, isClosed }: { types: Types | undefined; isClosed: () => boolean },
  ): unknown {
    const turnedAway = isNew && this.turnsAway(origin)
    if (this.shares) {
      const held = this.held(origin)
      const value = revive(found, types)
      // All readers get this object.
      if (turnedAway || isClosed()) return value
      return this.remember(slotsByKey, key, value, held)
    }
    const { value } = found
    const given = turnedAway ? this.giveOnly(value) : this.remember(slotsByKey, key, value, origin)
    return given instanceof Graph ? given.copy() : finish(this, found, types)
  }

  /**
   * Keeps a value that was just read. Returns what its reader is given, or, for one that is frozen and holds values of
   * registered types, the `Graph` that makes it.
   */
  remember(slotsByKey: SlotsByKey, key: string, value: unknown, origin: O): unknown {
    let kept: unknown
    try {
      kept = this.#keeper.keep(value)
    } catch {
      // A value without a frozen form is read again each time.
      this.forget(slotsByKey, key)
      return value
    }
    const { plan, weight: bytes } = this.#keeper
    const weight = bytes + weighKey(key)
    const store = this.store
    if (weight > store.bounds.maxBytes) {
      this.forget(slotsByKey, key)
      return this.freezes ? kept : value
    }
    const slots = this.slots
    const found = slotsByKey.get(key)
    const flags = plan === AS_IS ? 0 : COPIED
    const slot = store.put(found, key, kept, weight, flags)
    if (slot !== found) slotsByKey.set(key, slot)
    slots.slotsByKey[slot] = slotsByKey
    slots.plan[slot] = plan
    this.place(slot, origin)
    if (origin.keptUntil !== 0) {
      slots.state[slot] |= TIMED
      slots.time(slot, origin.keptUntil, origin.keptUntil - origin.created)
    }
    // One that holds values of registered types is kept frozen, and has a plan all the same.
    return plan === AS_IS || this.freezes ? kept : value
  }

  /** Lets go of a value that the tier below no longer has. */
  forget(slotsByKey: SlotsByKey, key: string): void {
    const slot = slotsByKey.get(key)
    if (slot === undefined) return
    this.#drop(slot)
    this.store.remove(slot)
  }

  #drop(slot: number): void {
    const slots = this.slots
    slots.slotsByKey[slot]?.delete(slots.keys[slot])
    slots.slotsByKey[slot] = undefined
  }

  /** Lets go of everything, so that nothing is handed out any more. */
  close(): void {
    for (const slotsByKey of this.#namespaces) slotsByKey.clear()
    this.store.clear()
    this.#doorkeeper.clear()
  }
}

/** What is handed out of a value that was just decoded or loaded, and has no other owner; `memory` if there is one. */
export function finish(
  memory: { readonly freezes: boolean; giveOnly(value: unknown): unknown } | undefined,
  value: unknown,
  types: Types | undefined,
): unknown {
  if (memory?.freezes) {
    const given = memory.giveOnly(value instanceof Unrevived ? value.value : value)
    if (given instanceof Graph) return given.copy()
    // A value without a frozen form is handed out as it is.
    if (!(value instanceof Unrevived)) return given
  }
  return revive(value, types)
}
