import { define, type Members } from './forward.ts'
import { message } from './replies.ts'
import type { Session } from './session.ts'
import type { Word } from './word.ts'

type Listener = (message: unknown, channel: Word) => unknown

/** A listener as the client has it: with the name that the server knows, and told of this namespace only. */
interface Wrapped {
  readonly listener: Listener
  readonly wrapped: Listener
  readonly asBytes: boolean
}

/** node-redis' names of what a subscription is to, each with its methods and its command. */
const SUBSCRIBING: readonly [subscribe: string[], unsubscribe: string[], command: string][] = [
  [['SUBSCRIBE', 'subscribe'], ['UNSUBSCRIBE', 'unsubscribe'], 'SUBSCRIBE'],
  [['PSUBSCRIBE', 'pSubscribe'], ['PUNSUBSCRIBE', 'pUnsubscribe'], 'PSUBSCRIBE'],
  [['SSUBSCRIBE', 'sSubscribe'], ['SUNSUBSCRIBE', 'sUnsubscribe'], 'SSUBSCRIBE'],
]

/** Subscriptions of one namespace on a client that may have those of others as well. */
export class Listeners {
  readonly #client: Members
  readonly #session: Session

  constructor(client: Members, session: Session) {
    this.#client = client
    this.#session = session
  }

  /** Gives a view of the client its methods, in a layer of it, and its `invalidate` events. */
  give(layer: object, view: object): void {
    for (const [subscribe, unsubscribe, command] of SUBSCRIBING) {
      const all = new Map<string, Set<Wrapped>>()
      for (const name of subscribe) define(layer, name, this.#subscribe(command, all))
      for (const name of unsubscribe) define(layer, name, this.#unsubscribe(command, all))
    }
    this.#giveEvents(layer, view)
  }

  #subscribe(command: string, all: Map<string, Set<Wrapped>>) {
    return async (channels: Word | Word[], listener: Listener, asBytes = false) => {
      const names = this.#names(command, channels)
      const { prefix } = this.#session
      for (const name of names) {
        const known = all.get(name) ?? new Set()
        all.set(name, known)
        let one = find(known, listener, asBytes)
        if (one === undefined) {
          one = { listener, wrapped: wrap(listener, prefix), asBytes }
          known.add(one)
        }
        await this.#call(command, name, one)
      }
    }
  }

  #unsubscribe(command: string, all: Map<string, Set<Wrapped>>) {
    return async (channels?: Word | Word[], listener?: Listener, asBytes = false) => {
      const names = channels === undefined ? [...all.keys()] : this.#names(command, channels)
      const ended: Promise<unknown>[] = []
      for (const name of names) {
        const known = all.get(name) ?? new Set()
        const some = listener === undefined ? [...known] : [find(known, listener, asBytes)]
        for (const one of some) {
          if (one === undefined) continue
          known.delete(one)
          if (known.size === 0) all.delete(name)
          ended.push(this.#call(command.replace('SUB', 'UNSUB'), name, one))
        }
      }
      await Promise.all(ended)
    }
  }

  #names(command: string, channels: Word | Word[]): string[] {
    const words = [command, ...[channels].flat()]
    this.#session.rewrite(words)
    return words.slice(1).map((word) => (typeof word === 'string' ? word : asText(word)))
  }

  #call(method: string, name: string, { wrapped, asBytes }: Wrapped): Promise<unknown> {
    const call = this.#client[method] as (...given: unknown[]) => Promise<unknown>
    return call.call(this.#client, name, wrapped, asBytes)
  }

  /** Keys that the server tells to be invalid come one by one, or null for all. */
  #giveEvents(layer: object, view: object): void {
    const own = new WeakMap<Listener, Listener>()
    const keyOf = (listener: Listener): Listener => {
      const known = own.get(listener)
      if (known !== undefined) return known
      const wrapped: Listener = (key) => {
        if (key === null) return listener.call(view, key, '')
        const told = this.#session.message(['invalidate', [key]]) as [string, Word[]] | undefined
        return told && listener.call(view, told[1][0], '')
      }
      own.set(listener, wrapped)
      return wrapped
    }
    for (const name of [
      ...['on', 'addListener', 'prependListener', 'once', 'prependOnceListener'],
      ...['off', 'removeListener'],
    ]) {
      const call = this.#client[name] as (event: unknown, listener: Listener) => unknown
      define(layer, name, (event: unknown, listener: Listener) => {
        call.call(this.#client, event, event === 'invalidate' ? keyOf(listener) : listener)
        return view
      })
    }
  }
}

function find(known: Set<Wrapped>, listener: Listener, asBytes: boolean): Wrapped | undefined {
  return [...known].find((one) => one.listener === listener && one.asBytes === asBytes)
}

/** A listener that is told by other names, and not of other namespaces' keys. */
export function wrap(listener: Listener, prefix: Session['prefix']): Listener {
  return (payload, channel) => {
    const told = message(['message', channel, payload], prefix) as unknown[] | undefined
    if (told !== undefined) return listener(told[2], told[1] as Word)
  }
}

/** The client finds its listeners by text. */
function asText(word: Word): string {
  return typeof word === 'string' ? word : Buffer.from(word).toString()
}
