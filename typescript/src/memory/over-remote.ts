import type { Types } from '../entry/registered.ts'
import type { RemoteOperations } from '../remote/native.ts'
import type { RemoteOrigin } from '../remote/origin.ts'
import type { ResolvedMemory } from './options.ts'
import { MemoryOverTier, TierSlots } from './over-tier.ts'
import { copyOut } from './plan.ts'
import { COPIED, VISITED } from './slots.ts'

/**
 * The memory tier over copies of what a server holds: values that were read there and decoded. Where each was read stands
 * in the native part, which tells in one call whether that copy is there and may be served: then a read of the copy would
 * give the same (`spec/memory.md`, "Over the remote tier").
 */
export class MemoryOverRemote extends MemoryOverTier<RemoteOrigin, TierSlots> {
  readonly #calls: RemoteOperations
  /** The number of the handle's root. */
  readonly #number: number

  constructor(
    calls: RemoteOperations,
    number: number,
    options: ResolvedMemory,
    types: Types | undefined,
  ) {
    super(new TierSlots(), options, types)
    this.#calls = calls
    this.#number = number
  }

  /** The value of a slot, if a copy on this host would give the same; else undefined. */
  read(slot: number): unknown {
    if (!this.#calls.stands(this.#number, slot)) return undefined
    const slots = this.slots
    const state = slots.state[slot]
    if ((state & VISITED) === 0) this.store.visit(slot)
    this.hits++
    const value = slots.values[slot]
    return (state & COPIED) === 0 ? value : copyOut(value, slots.plan[slot])
  }

  protected place(slot: number, origin: RemoteOrigin): void {
    this.#calls.keep(this.#number, slot, origin.words)
  }

  protected held(origin: RemoteOrigin): RemoteOrigin {
    return origin.copy()
  }
}
