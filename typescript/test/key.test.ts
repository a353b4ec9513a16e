/** Full keys and their hash: the vectors, and the ways a key comes into the buffer. */
import { describe, expect, test } from 'vitest'
import { keyHash } from '../src/host/hash.ts'
import { InvalidArgument, InvalidKey, type Key } from '../src/index.ts'
import { KeyBuffer } from '../src/key.ts'
import { namespaceParts, namespacePrefix } from '../src/namespace.ts'
import { failure } from './support/failure.ts'
import { readSpec } from './support/spec.ts'
import { fromTagged, type Tagged } from './support/tagged.ts'

interface HashRow {
  key: string
  seed: string
  hash: string
}

interface KeyRow {
  namespace: string[]
  key: Tagged
  full?: string
  error?: string
}

const NO_PREFIX = new Uint8Array(0)

/** The bytes that a buffer holds, as hex, whether one looks at them as bytes or as words. */
function held(buffer: KeyBuffer): string {
  expect(Buffer.from(buffer.words.buffer, 0, buffer.to)).toEqual(
    Buffer.from(buffer.bytes.subarray(0, buffer.to)),
  )
  return Buffer.from(buffer.bytes.subarray(0, buffer.to)).toString('hex')
}

function hashOf(seed: string, buffer: KeyBuffer): string {
  const [high, low] = [seed.slice(0, 8), seed.slice(8)].map((half) => Number.parseInt(half, 16))
  const hash = { low: 0, high: 0 }
  keyHash(low, high, buffer.words, buffer.to, hash)
  return [hash.high, hash.low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
}

test.each(readSpec<HashRow[]>('vectors/hash.json'))('hash.json: $key, seed $seed', (row) => {
  const buffer = new KeyBuffer(NO_PREFIX)
  buffer.set(Buffer.from(row.key, 'hex'))
  expect(hashOf(row.seed, buffer)).toBe(row.hash)
})

test.each(readSpec<KeyRow[]>('vectors/keys.json'))('keys.json: $namespace $key', (row) => {
  if (row.error !== undefined) {
    const refusal = failure(() => namespaceParts(row.namespace))
    expect((refusal as InvalidArgument).code).toBe(row.error)
    return
  }
  const buffer = new KeyBuffer(namespacePrefix(namespaceParts(row.namespace)))
  buffer.set(fromTagged(row.key) as Key)
  expect(held(buffer)).toBe(row.full)
})

describe('a buffer', () => {
  const texts = [
    '',
    'a',
    'ab',
    'abc',
    'abcd',
    'abcde',
    'a'.repeat(31),
    'é',
    'aé',
    'aaaaé',
    '€uro',
    '🗝',
    'x'.repeat(300),
  ]
  const prefixes = ['::', 'a::', 'ab::', 'abc::', 'abcd::']

  test('holds every text behind every prefix, whatever it held before', () => {
    for (const prefix of prefixes) {
      const buffer = new KeyBuffer(Buffer.from(prefix))
      for (const before of texts) {
        for (const text of texts) {
          buffer.set(before)
          buffer.set(text)
          const expected = Buffer.from(prefix + text)
          expect(held(buffer)).toBe(expected.toString('hex'))
          buffer.set(before)
          buffer.set(Buffer.from(text))
          expect(held(buffer)).toBe(expected.toString('hex'))
        }
      }
    }
  })

  test('hashes text, its bytes and a part of a longer array alike', () => {
    const seed = '0123456789abcdef'
    const buffer = new KeyBuffer(Buffer.from('shop::'))
    for (const text of texts) {
      buffer.set(text)
      const hash = hashOf(seed, buffer)
      buffer.set(Buffer.from(`::${text}::`).subarray(2, -2))
      expect(hashOf(seed, buffer)).toBe(hash)
      const whole = new KeyBuffer(NO_PREFIX)
      whole.set(`shop::${text}`)
      expect(hashOf(seed, whole)).toBe(hash)
    }
  })

  test('lets go of the memory of a long key', () => {
    const buffer = new KeyBuffer(Buffer.from('::'))
    buffer.set('x'.repeat(1_000_000))
    expect(buffer.to).toBe(1_000_002)
    buffer.set('k')
    expect(buffer.bytes.length).toBeLessThan(1000)
    expect(held(buffer)).toBe(Buffer.from('::k').toString('hex'))
  })

  test.each([
    ['text with half a surrogate pair', 'a\ud800b'],
    ['a number', 1],
    ['null', null],
    ['nothing', undefined],
    ['an object', {}],
    ['an array', [1]],
    ['another typed array', new Uint16Array(1)],
  ])('refuses %s', (_, key) => {
    const buffer = new KeyBuffer(Buffer.from('::'))
    expect(failure(() => buffer.set(key as Key))).toBeInstanceOf(InvalidKey)
    buffer.set('k')
    expect(held(buffer)).toBe(Buffer.from('::k').toString('hex'))
  })
})

test.each([
  ['an empty part', ['a', '']],
  ['an empty text', ''],
  ['half a surrogate pair', 'a\udc00'],
  ['a number', 1],
  ['a list of numbers', [1]],
  ['null', null],
])('a namespace that is %s is refused', (_, namespace) => {
  expect(failure(() => namespaceParts(namespace as string))).toBeInstanceOf(InvalidArgument)
})
