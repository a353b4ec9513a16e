import { InvalidArgument } from '../errors.ts'
import { shown } from '../option-names.ts'
import { warn } from '../unstored.ts'
import { copyOut, type Plan } from './plan.ts'
import type { Slots } from './slots.ts'

/** What happens in a cache, and what a listener is told of it. */
export interface MemoryCacheEvents<K, V> {
  /** A read found an entry. */
  hit: [key: K, value: V]
  /** A read found none. */
  miss: [key: K]
  /** An entry was stored. */
  set: [key: K, value: V]
  /** A value was replaced by another one. */
  replaced: [key: K, value: V]
  /** An entry was deleted or taken. */
  deleted: [key: K, value: V]
  /** An entry expired, by its time to live or to idle, and was freed. */
  expired: [key: K, value: V]
  /** An entry made room for others. */
  evicted: [key: K, value: V]
  /** The cache was cleared. */
  cleared: []
}

/** Why an entry left. */
export type RemovalCause = 'replaced' | 'deleted' | 'expired' | 'evicted' | 'cleared'

export type EventName = keyof MemoryCacheEvents<unknown, unknown>
export type Listener<K, V, E extends EventName> = (...told: MemoryCacheEvents<K, V>[E]) => void

export type Heard = (...told: unknown[]) => unknown

/** What stands for a listener that is to be called once. */
interface Once extends Heard {
  of?: Heard
}

/** A listener that ends when it is called. */
export function onceOnly(listener: Heard, end: (self: Heard) => void): Heard {
  const once: Once = (...told) => {
    end(once)
    return listener(...told)
  }
  once.of = listener
  return once
}

/** The columns of what a cache has stored. */
type Kept = Pick<Slots<unknown, unknown>, 'values' | 'plan'>

/** What `tell` takes; for an event there is no cause. */
type Happened = [
  listeners: Heard[],
  key: unknown,
  kept: unknown,
  plan: Plan,
  cause: RemovalCause | undefined,
]

/**
 * Listeners. An event that nobody hears is a field that is undefined. Listeners run after the cache has done what they
 * are told of, in the order in which they came, and may use it. The error of one is reported, and concerns neither the
 * caller nor the other listeners.
 */
export class Listeners {
  hit: Heard[] | undefined
  miss: Heard[] | undefined
  set: Heard[] | undefined
  replaced: Heard[] | undefined
  deleted: Heard[] | undefined
  expired: Heard[] | undefined
  evicted: Heard[] | undefined
  cleared: Heard[] | undefined
  /** The removal listener: not an event, because it cannot be listened to later. */
  removal: Heard[] | undefined
  /** Loads under way by key, whose key was neither written nor deleted. */
  loads: Map<unknown, object> | undefined
  /** What happened in the middle of an operation, to be told at its end. */
  readonly #later: Happened[] = []

  /** @throws InvalidArgument */
  add(name: EventName, listener: Heard): void {
    if (typeof listener !== 'function') throw new InvalidArgument('a listener is a function')
    this.#check(name)
    // A new list: one that is being gone through stays as it is.
    this[name] = [...(this[name] ?? []), listener]
  }

  remove(name: EventName, listener: Heard): void {
    this.#check(name)
    const others = [...(this[name] ?? [])]
    const at = others.findLastIndex(
      (other) => other === listener || (other as Once).of === listener,
    )
    if (at >= 0) others.splice(at, 1)
    this[name] = others.length > 0 ? others : undefined
  }

  /** Whether there are listeners, loads, or something that is still to be told. */
  get heard(): boolean {
    if (this.removal !== undefined || this.loads !== undefined) return true
    return this.#later.length > 0 || [...EVENTS].some((name) => this[name as EventName])
  }

  /** `kept` and `plan` are how the cache had the value: a copy may run the user's code, so it is made later. */
  postpone(
    listeners: Heard[] | undefined,
    key: unknown,
    kept: unknown,
    plan: Plan,
    cause?: RemovalCause,
  ): void {
    if (listeners !== undefined) this.#later.push([listeners, key, kept, plan, cause])
  }

  /** Tells what was postponed. Listeners may cause more. */
  flush(): void {
    const later = this.#later
    while (later.length > 0) tell(...(later.shift() as Happened))
  }

  /** A write wins over a load under way; what it replaces, if it has a slot, is told later. */
  beforeSet(key: unknown, kept: unknown, slot: number | undefined, slots: Kept): void {
    this.loads?.delete(key)
    // The same object has not left.
    if (slot === undefined || slots.values[slot] === kept) return
    this.postpone(this.replaced, key, slots.values[slot], slots.plan[slot])
    this.postpone(this.removal, key, slots.values[slot], slots.plan[slot], 'replaced')
  }

  /** Tells what was postponed, and of a write. */
  tellOfSet(key: unknown, kept: unknown, plan: Plan): void {
    this.flush()
    if (this.set !== undefined) tell(this.set, key, kept, plan)
  }

  #check(name: EventName): void {
    if (EVENTS.has(name)) return
    throw new InvalidArgument(
      `there is no event ${String(name)}; there are ${[...EVENTS].join(', ')}`,
    )
  }
}

const EVENTS: ReadonlySet<string> = new Set<EventName>([
  'hit',
  'miss',
  'set',
  'replaced',
  'deleted',
  'expired',
  'evicted',
  'cleared',
])

/** Tells listeners what happened. Copies may be the work of the user's code too: what either throws is reported. */
export function tell(
  listeners: Heard[],
  key?: unknown,
  kept?: unknown,
  plan?: Plan,
  cause?: RemovalCause | undefined,
): void {
  try {
    const told: unknown[] = key === undefined ? [] : [key]
    if (plan !== undefined) told.push(copyOut(kept, plan))
    if (cause) told.push(cause)
    for (const listener of listeners) {
      // An asynchronous one's error, too: it would end the process.
      try {
        ;(listener(...told) as Promise<unknown> | undefined)?.catch?.(report)
      } catch (error) {
        report(error)
      }
    }
  } catch (error) {
    report(error)
  }
}

function report(error: unknown): void {
  warn(
    `a listener threw: ${(error as Error | undefined)?.stack ?? shown(error)}`,
    'listener_failed',
  )
}
