/** spec/vectors/commands.json: calls of every command with what servers find to be their keys; and namespaces.json. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { PolycacheError } from '../../src/index.ts'
import { Session, type Word } from '../../src/redis-namespace/index.ts'
import { failure } from '../support/failure.ts'
import { readSpec, specText } from '../support/spec.ts'

interface Case {
  namespace: string | string[]
  words: string[]
}

const cases = readSpec<{
  commands: (Case & { sent?: string[]; error?: string })[]
  replies: (Case & { reply: unknown; returns: unknown })[]
  events: { namespace: string; event: unknown[]; told: unknown[] | null }[]
}>('vectors/namespaces.json')

const bytes = (text: string): Word => Buffer.from(text)
const allBytes = (value: unknown): unknown => {
  if (typeof value === 'string') return bytes(value)
  return Array.isArray(value) ? value.map(allBytes) : value
}
const sessionOf = ({ namespace }: { namespace: string | string[] }) => new Session({ namespace })

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
  )('%s', (_, { namespace, words, sent, error }) => {
    for (const given of [[...words], words.map(bytes)]) {
      const session = sessionOf({ namespace })
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
