import { InvalidArgument } from '../errors.ts'
import type { BunRedis } from '../redis-namespace/bun.ts'
import { define, type Members, namesOf } from '../redis-namespace/forward.ts'
import { layered } from '../redis-namespace/views.ts'
import type { Word } from '../redis-namespace/word.ts'
import { refused } from './captured.ts'
import { isReadMethod } from './plan.ts'
import type { Prepared, Way } from './ways.ts'

type Method = (...given: readonly unknown[]) => Promise<unknown>

/** What a method was asked for, and not done. */
interface Made {
  readonly words: readonly Word[]
  start(): void
}

/**
 * The way of Bun's own client. It makes commands natively, so the words of one are what its method was given, and the
 * method itself sends them. It has one connection, sends in the order in which it was asked, and tells nobody when it
 * makes another connection but by `onconnect`, which is the program's. So the proof is asked for on both sides of a read.
 */
export function bunWay(client: BunRedis, namespacedAs: (view: BunRedis) => BunRedis): Way {
  let made: Made | undefined
  const { view, layer } = layered(client)
  for (const name of namesOf(client)) {
    if (!isReadMethod(name)) continue
    const method = client[name] as Method
    define(layer, name, (...given: unknown[]) => {
      const { promise, resolve } = Promise.withResolvers<unknown>()
      made = { words: wordsOf(name, given), start: () => resolve(method.apply(client, given)) }
      return promise
    })
  }
  const makes = namespacedAs(view) as Members
  return {
    shape: `bun ${process.versions.bun}`,
    client,
    epoch: () => 0,
    provesBefore: true,
    prepare: (method, given): Prepared => {
      // A view of a namespace would only tell its caller later.
      wordsOf(method, given)
      made = undefined
      // The caller may change its lists and bytes while the read waits for its turn.
      const reply = (makes[method] as Method)(...given.map(copied))
      const command = made as Made | undefined
      if (command === undefined) return refused(method, reply)
      return {
        words: command.words,
        send: () => {
          command.start()
          return reply
        },
      }
    },
    // It sends what it is given in one moment in one piece.
    together: (sends) => sends(),
    // INFO in capitals waits until all is answered, and all behind it waits for INFO.
    send: ([name, ...words]) => client.send(String(name).toLowerCase(), words),
  }
}

/** @throws InvalidArgument for what is no word, or bytes of another kind: calls are told apart by what they are given */
function wordsOf(method: string, given: readonly unknown[]): Word[] {
  const command = method === 'getBuffer' ? 'GET' : method.toUpperCase()
  const words = given.flat(Number.POSITIVE_INFINITY).map(wordOf)
  return method === 'send' ? words : [command, ...words]
}

function wordOf(one: unknown): Word {
  if (typeof one === 'string' || one instanceof Uint8Array) return one
  if (typeof one === 'number') return String(one)
  throw new InvalidArgument(
    "cached reads of Bun's client take texts, numbers and Uint8Arrays, and return promises",
  )
}

function copied(one: unknown): unknown {
  if (Array.isArray(one)) return one.map(copied)
  return one instanceof Uint8Array ? new Uint8Array(one) : one
}
