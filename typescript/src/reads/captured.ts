import { InvalidArgument } from '../errors.ts'
import type { Members } from '../redis-namespace/forward.ts'
import type { Word } from '../redis-namespace/word.ts'
import type { Prepared } from './ways.ts'

type Method = (...given: readonly unknown[]) => unknown

/** A method that made no command: sending it fails with what the view says, as a namespace does that refuses the command. */
export function refused(method: string, answered: unknown): Prepared {
  const none = new InvalidArgument(`${method} sends no command`)
  const why = Promise.resolve(answered).then(() => Promise.reject<never>(none))
  why.catch(() => {})
  return { words: [], why, send: () => why }
}

/** Bytes that their owner may change before they are sent, copied; in place. */
export function own(words: Word[]): Word[] {
  for (const [at, word] of words.entries()) {
    if (word instanceof Uint8Array) words[at] = Buffer.from(word)
  }
  return words
}

/** Calls a method of a view that sends nothing, for the command that it makes. */
export function captured(view: Members, method: string, given: readonly unknown[]): unknown {
  if (given.some((one) => typeof one === 'function')) {
    throw new InvalidArgument('cached reads return promises, and take no callbacks')
  }
  return (view[method] as Method).apply(view, given as unknown[])
}
