import { expect, it } from 'vitest'
import { jsonOf } from '../../src/reads/json.ts'
import { jsonOfPacked, pack, unpack } from '../../src/reads/packed.ts'

const MEBIBYTE = 1024 * 1024

function roundTrip(value: unknown): unknown {
  const packed = pack(value)
  return packed && unpack(Buffer.from(packed))
}

it.each([
  ['', 'a', 'a'.repeat(63), 'a'.repeat(64), 'a'.repeat(65), 'a'.repeat(300), 'a'.repeat(70_000)],
  [
    'é',
    'aé',
    `${'a'.repeat(63)}é`,
    `${'a'.repeat(64)}é`,
    '日本語'.repeat(100),
    '🙂',
    'a\0b',
    '\x7f\x80',
  ],
  [0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2n ** 70n, -1n, true, false, null, undefined],
  [Buffer.from([0, 255, 10]), Buffer.alloc(70_000, 7), [], [[]], new Array(70_000).fill('x')],
  [
    new Map<unknown, unknown>([
      ['a', 1],
      [2, ['b']],
    ]),
    new Set(['é', 1]),
  ],
  [{ a: 'é', b: { c: [1] } }, Object.assign(Object.create(null), { a: '1' })],
])('keeps what a reply holds (%#)', (...values) => {
  expect(roundTrip(values)).toStrictEqual(values)
  for (const value of values) expect(roundTrip(value)).toStrictEqual(value)
})

it('writes half a character as UTF-8 has it', () => {
  expect(roundTrip('a\ud800')).toBe('a\ufffd')
})

it('keeps numbers of bytes above 2 ** 24', () => {
  const text = 'a'.repeat(2 ** 24 + 3)
  expect(roundTrip([text, 'b'])).toEqual([text, 'b'])
})

it('has no bytes for what a reply does not hold', () => {
  expect(pack(new Date())).toBeUndefined()
  expect(pack([() => {}])).toBeUndefined()
})

function packedJson(value: unknown): string | undefined {
  return jsonOfPacked(Buffer.from(pack(value) ?? []))?.toString()
}

it.each<{ value: object }>([
  { value: [] },
  { value: [['1-1', ['a', 'é🙂\u2028"\\']], null, true, 1.5] },
  { value: { b: ['1'], 10: 'ten', 2: { c: null } } },
  { value: JSON.parse('{"__proto__":["own"],"toJSON":"text"}') },
  { value: ['half a character: \ud800'] },
  { value: new Array(70_000).fill('x') },
])('keeps as JSON what JSON gives back (%#)', ({ value }) => {
  expect(packedJson(value)).toBe(jsonOf(value).toString())
  const back = roundTrip(value)
  expect(back).toStrictEqual(value)
  expect(Object.keys(back as object)).toEqual(Object.keys(value))
})

it.each<unknown[]>([
  [-0],
  [Number.NaN],
  [Number.NEGATIVE_INFINITY],
  [undefined],
  [1n],
  [Buffer.from('a')],
  [new Map()],
  [new Set()],
  [Object.create(null)],
])('keeps as itself what JSON does not give back (%#)', (...value) => {
  expect(packedJson(value)).toBeUndefined()
  expect(roundTrip(value)).toStrictEqual(value)
})

it('has no bytes for what only looks like bytes, or cannot be read', () => {
  expect(pack(Object.create(Buffer.from('a')))).toBeUndefined()
  const throwing = {
    get field() {
      throw new TypeError()
    },
  }
  expect(pack([undefined, throwing])).toBeUndefined()
})

it.each<[string, unknown]>([
  ['a text', 'a'.repeat(3 * MEBIBYTE)],
  ['a list', [undefined, 'é'.repeat(MEBIBYTE), Buffer.alloc(MEBIBYTE)]],
  ['JSON', ['a'.repeat(3 * MEBIBYTE)]],
  ['what has no bytes', ['a'.repeat(3 * MEBIBYTE), new Date()]],
])('holds no large buffer after it, and makes none much larger: %s', (_, value) => {
  const { length = 0, buffer } = pack(value) ?? {}
  expect(buffer?.byteLength ?? 0).toBeLessThanOrEqual(1.5 * length + MEBIBYTE)
  expect(pack('a')?.buffer.byteLength).toBeLessThanOrEqual(MEBIBYTE)
})

it('uses a small buffer again', () => {
  const { buffer } = pack('a') as Buffer
  expect(pack('b')?.buffer).toBe(buffer)
})

it('has no bytes for what nests too deeply', () => {
  let nested: unknown[] = []
  for (let depth = 0; depth < 100_000; depth++) nested = [nested]
  expect(pack(nested)).toBeUndefined()
})
