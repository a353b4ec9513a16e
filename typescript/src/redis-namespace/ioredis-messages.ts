import { EventEmitter } from 'node:events'
import { define } from './forward.ts'
import type { Subscriptions, Target } from './subscriptions.ts'
import type { Word } from './word.ts'

export type Listener = (...given: never[]) => void

/** What is used of an EventEmitter. */
export interface Emitter {
  on(event: string, listener: Listener): unknown
  off(event: string, listener: Listener): unknown
}

const TARGETS: Readonly<Record<string, Target>> = {
  message: 'channel',
  pmessage: 'pattern',
  smessage: 'shard',
}

/** Messages of one namespace on a client that may be subscribed to others' channels as well. */
export class Messages {
  readonly #client: Emitter
  readonly #own = new EventEmitter()
  readonly #attached = new Map<string, Listener>()

  constructor(client: Emitter, subscriptions: Subscriptions) {
    this.#client = client
    // The client tells of messages only while someone listens here.
    this.#own.on('newListener', (event: string) => this.#attach(event, subscriptions))
    this.#own.on('removeListener', (event: string) => this.#detach(event))
  }

  /** Gives a view of the client the methods of an EventEmitter, in a layer of it. */
  give(layer: object, view: object): void {
    const emitter = (event: unknown) =>
      typeof event === 'string' && Object.hasOwn(TARGETS, kindOf(event)) ? this.#own : this.#client
    const call = (target: unknown, name: string, given: unknown[]) =>
      (target as Record<string, (...given: unknown[]) => unknown>)[name](...given)

    for (const name of [
      ...['on', 'addListener', 'prependListener', 'once', 'prependOnceListener'],
      ...['off', 'removeListener'],
    ]) {
      define(layer, name, (...given: unknown[]) => {
        call(emitter(given[0]), name, given)
        return view
      })
    }
    for (const name of ['listeners', 'rawListeners', 'listenerCount', 'emit']) {
      define(layer, name, (...given: unknown[]) => call(emitter(given[0]), name, given))
    }
    define(layer, 'removeAllListeners', (...given: unknown[]) => {
      if (given.length > 0) call(emitter(given[0]), 'removeAllListeners', given)
      else for (const event of EVENTS) this.#own.removeAllListeners(event)
      return view
    })
  }

  #attach(event: string, subscriptions: Subscriptions): void {
    const kind = kindOf(event)
    if (!Object.hasOwn(TARGETS, kind) || this.#attached.has(kind)) return
    const listener = (...rest: [Word, ...unknown[]]) => {
      for (const told of subscriptions.told(TARGETS[kind], rest)) this.#tell(kind, told)
    }
    this.#attached.set(kind, listener)
    this.#client.on(`${kind}Buffer`, listener)
  }

  #detach(event: string): void {
    const kind = kindOf(event)
    const listener = this.#attached.get(kind)
    const count = this.#own.listenerCount(kind) + this.#own.listenerCount(`${kind}Buffer`)
    if (listener === undefined || count > 0) return
    this.#attached.delete(kind)
    this.#client.off(`${kind}Buffer`, listener)
  }

  #tell(kind: string, told: unknown[]): void {
    if (this.#own.listenerCount(kind) > 0) {
      this.#own.emit(kind, ...told.map((one) => (one === null ? '' : String(one))))
    }
    this.#own.emit(`${kind}Buffer`, ...told)
  }
}

const EVENTS = Object.keys(TARGETS).flatMap((kind) => [kind, `${kind}Buffer`])

function kindOf(event: string): string {
  return event.replace(/Buffer$/, '')
}
