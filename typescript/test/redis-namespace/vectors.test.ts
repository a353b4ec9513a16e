/** spec/vectors/commands.json: calls of every command with what servers find to be their keys; and namespaces.json. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { PolycacheError } from '../../src/index.ts'
import { Session, type Word } from '../../src/redis-namespace/index.ts'
import { failure } from '../support/failure.ts'
import { readSpec, specText } from '../support/spec.ts'

interface Options {
  namespace: string | string[]
  separator?: string
  allow?: string[]
  commands?: Record<string, never>
}

interface Case extends Options {
  words: string[]
}

interface Step {
  words: string[]
  reply?: unknown
  returns?: unknown
  fails?: string
}

const cases = readSpec<{
  commands: (Case & { sent?: string[]; error?: string })[]
  replies: (Case & { reply: unknown; returns: unknown })[]
  events: (Options & { event: unknown[]; told: unknown[] | null })[]
  options: (Options & { error: string })[]
  transactions: (Options & { says: string; steps: Step[] })[]
}>('vectors/namespaces.json')

const bytes = (text: string): Word => Buffer.from(text)
const allBytes = (value: unknown): unknown => {
  if (typeof value === 'string') return bytes(value)
  return Array.isArray(value) ? value.map(allBytes) : value
}
const sessionOf = ({ namespace, separator, allow, commands }: Options) =>
  new Session({
    namespace,
    ...(separator !== undefined && { separator }),
    ...(allow !== undefined && { allow }),
    ...(commands !== undefined && { commands }),
  })

test('the table is a copy of the one in spec', () => {
  const path = new URL('../../src/redis-namespace/commands.json', import.meta.url)
  expect(readFileSync(path, 'utf8')).toBe(specText('commands.json'))
})

test('keys are rewritten and nothing else, as text and as bytes', () => {
  const session = new Session({ namespace: 'shop' })
  const calls = readSpec<[words: string[], keys: number[]][]>('vectors/commands.json')
  expect(calls.length).toBeGreaterThan(1000)
  for (const [words, keys] of calls) {
    const expected = words.map((word, at) => (keys.includes(at) ? `shop:${word}` : word))
    for (const given of [[...words], words.map(bytes)]) {
      session.put(session.find(given[0], given[1]), given)
      expect(given.map(String)).toEqual(expected)
    }
  }
})

describe('commands', () => {
  test.each(
    cases.commands.map((one) => [`${one.namespace}: ${one.words.join(' ')}`, one] as const),
  )('%s', (_, { words, sent, error, ...options }) => {
    for (const given of [[...words], words.map(bytes)]) {
      const session = sessionOf(options)
      if (error === undefined) {
        session.rewrite(given)
        expect(given.map(String)).toEqual(sent)
      } else {
        const thrown = failure(() => session.rewrite(given))
        expect(thrown).toBeInstanceOf(PolycacheError)
        expect((thrown as PolycacheError).code).toBe(error)
      }
    }
  })
})

test('replies', () => {
  for (const { words, reply, returns, ...given } of cases.replies) {
    const takeOff = sessionOf(given).rewrite([...words])
    expect(takeOff(reply)).toEqual(returns)
    if (typeof reply === 'object' && reply !== null && !Array.isArray(reply)) {
      const map = new Map(Object.entries(reply))
      expect(takeOff(map)).toEqual(new Map(Object.entries(returns as object)))
    } else {
      expect(takeOff(allBytes(reply))).toEqual(allBytes(returns))
    }
  }
})

test('events', () => {
  for (const { event, told, ...given } of cases.events) {
    const session = sessionOf(given)
    expect(session.message(event) ?? null).toEqual(told)
    const [kind, ...rest] = event
    expect(session.message([kind, ...rest.map(allBytes)]) ?? null).toEqual(
      told && [kind, ...told.slice(1).map(allBytes)],
    )
  }
})

test.each(cases.options.map((one) => [JSON.stringify(one), one] as const))(
  'options that are wrong: %s',
  (_, { error, ...options }) => {
    const thrown = failure(() => sessionOf(options))
    expect(thrown).toBeInstanceOf(PolycacheError)
    expect((thrown as PolycacheError).code).toBe(error)
  },
)

describe('transactions', () => {
  const send = (session: Session, given: string[]) => {
    const words: Word[] = [...given]
    const command = session.find(words[0], words[1])
    return session.send(command, session.put(command, words))
  }

  test.each(cases.transactions.map((one) => [one.says, one] as const))(
    '%s',
    (_, { steps, ...options }) => {
      const session = sessionOf(options)
      // The reply of what fails never comes.
      for (const { words, reply, returns, fails } of steps) {
        const takeOff = send(session, words)
        if (fails === undefined) expect(takeOff(reply)).toEqual(returns)
      }
    },
  )

  test.each(cases.transactions.map((one) => [one.says, one] as const))(
    '%s, sent before any reply is here',
    (_, { steps, ...options }) => {
      const session = sessionOf(options)
      const sent = steps.map(({ words }) => send(session, words))
      for (const [at, { reply, returns, fails }] of steps.entries()) {
        if (fails === undefined) expect(sent[at](reply)).toEqual(returns)
      }
    },
  )
})
