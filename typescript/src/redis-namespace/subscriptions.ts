import type { Prefix } from './prefix.ts'
import { message } from './replies.ts'
import { asLatin1, type Word } from './word.ts'

/** What a subscription is to: a channel, a pattern of channels or a channel of a shard. */
export type Target = 'channel' | 'pattern' | 'shard'

/** What a command begins or ends subscriptions to. */
export interface Subscribing {
  readonly target: Target
  readonly begins: boolean
}

/** The commands that do. */
export const SUBSCRIBING: ReadonlyMap<string, Subscribing> = new Map([
  ['SUBSCRIBE', { target: 'channel', begins: true }],
  ['UNSUBSCRIBE', { target: 'channel', begins: false }],
  ['PSUBSCRIBE', { target: 'pattern', begins: true }],
  ['PUNSUBSCRIBE', { target: 'pattern', begins: false }],
  ['SSUBSCRIBE', { target: 'shard', begins: true }],
  ['SUNSUBSCRIBE', { target: 'shard', begins: false }],
])

const EVENTS: Readonly<Record<Target, string>> = {
  channel: 'message',
  pattern: 'pmessage',
  shard: 'smessage',
}

interface Subscription {
  readonly name: Word
  /** Those with which it was asked for: a dynamic namespace has many. */
  readonly prefixes: Set<Prefix>
}

/** What one namespace has subscribed to on a connection that it shares with others. */
export class Subscriptions {
  readonly #all: Readonly<Record<Target, Map<string, Subscription>>> = {
    channel: new Map(),
    pattern: new Map(),
    shard: new Map(),
  }

  /** Notes a command that is sent, whose names have their prefix. */
  note({ target, begins }: Subscribing, names: readonly Word[], prefix: Prefix): void {
    for (const name of names) {
      const known = this.#all[target].get(asLatin1(name))
      if (begins) {
        if (known === undefined) {
          this.#all[target].set(asLatin1(name), { name, prefixes: new Set([prefix]) })
        } else {
          known.prefixes.add(prefix)
        }
      } else if (known?.prefixes.delete(prefix) && known.prefixes.size === 0) {
        this.#all[target].delete(asLatin1(name))
      }
    }
  }

  /** Forgets all of a target and gives their names, because without a name a command would end those of others. */
  end(target: Target): Word[] {
    const all = this.#all[target]
    const names = [...all.values()].map(({ name }) => name)
    all.clear()
    return names
  }

  /**
   * What a message tells this namespace: nothing when it has not subscribed to where it came by.
   *
   * @param rest the pattern, if there is one, the channel and the payload
   */
  *told(target: Target, rest: readonly [Word, ...unknown[]]): Generator<unknown[]> {
    const subscription = this.#all[target].get(asLatin1(rest[0]))
    for (const prefix of subscription?.prefixes ?? []) {
      const told = message([EVENTS[target], ...rest], prefix)
      if (Array.isArray(told)) yield told.slice(1)
    }
  }
}
