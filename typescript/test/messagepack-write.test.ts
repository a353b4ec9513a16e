/** What is written is whole wherever the writer's buffer ends and has to grow. */
import { expect, test } from 'vitest'
import { SERIALIZER_IDS } from '../src/entry/serializer.ts'
import { Decimal, Named, Uuid } from '../src/index.ts'
import { decodePayload } from './support/entries.ts'
import { toTagged } from './support/tagged.ts'
import { encodePayload } from './support/vectors.ts'

/** Bytes of a buffer at first (`scratch.ts`). */
const USUAL = 4096
const LONG = 'x'.repeat(300)

test.each<[string, unknown]>([
  ['set', new Set([1, 2])],
  ['set of a fixed length', new Set()],
  ['long set', new Set([LONG])],
  ['registered type', new Named('t', null)],
  ['long registered type', new Named('t', LONG)],
  ['registered type in a registered type', new Named('t', new Named('u', new Set([1])))],
  ['date', new Date(0)],
  ['decimal', new Decimal('1.5')],
  ['UUID', new Uuid(new Uint8Array(16).fill(0x55))],
  ['bytes', new Uint8Array(20).fill(0x55)],
  ['big integer', 2n ** 70n],
  ['map with undefined', { a: undefined, b: 1 }],
  ['text', 'ä'.repeat(20)],
])('%s', (_, value) => {
  const expected = toTagged(
    decodePayload(SERIALIZER_IDS.messagepack, encodePayload('messagepack', value)),
  )
  for (let before = USUAL - 400; before <= USUAL; before++) {
    const payload = encodePayload('messagepack', [new Uint8Array(before), value])
    const [, read] = decodePayload(SERIALIZER_IDS.messagepack, payload) as unknown[]
    expect(toTagged(read), `${before} bytes before it`).toEqual(expected)
  }
})
