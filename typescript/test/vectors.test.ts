/** The golden vectors of spec/vectors: what every language wrote, and what every language refuses. */
import { describe, expect, test } from 'vitest'
import { SERIALIZER_IDS, type SerializerName } from '../src/entry/serializer.ts'
import { PolycacheError, UnsupportedValue } from '../src/index.ts'
import { decodeEntry, decodePayload } from './support/entries.ts'
import { failure } from './support/failure.ts'
import { filesOf, readSpec, specText } from './support/spec.ts'
import { asHere, fromTagged, inOrder, type Tagged, toTagged } from './support/tagged.ts'
import {
  ENTRIES_FILE,
  type EntryRow,
  encodePayload,
  entriesText,
  type ValueRow,
} from './support/vectors.ts'

const NONE = { level: 0 }

for (const file of filesOf('vectors').filter((name) => name.startsWith('entries.'))) {
  describe(file, () => {
    const rows = readSpec<EntryRow[]>(`vectors/${file}`)

    test('holds entries', () => {
      expect(rows.length).toBeGreaterThan(50)
    })

    test.each(rows.map((row) => [row.name, row] as const))('%s', (_, row) => {
      const { header, value } = decodeEntry(Buffer.from(row.entry, 'hex'))
      expect(toTagged(value)).toEqual(asHere(row.value))
      expect({
        serializer: header.serializer,
        compressed: header.level !== NONE.level,
        created: header.created,
        expires: header.expires,
        fresh_until: header.freshUntil ?? null,
        tags: header.tags.map((tag) => [tag.name, tag.generation]),
      }).toEqual({
        serializer: SERIALIZER_IDS[row.serializer],
        compressed: row.compressor !== 'none',
        created: row.created,
        expires: row.expires,
        fresh_until: row.fresh_until,
        tags: row.tags,
      })
    })
  })
}

test('entries.typescript.json is what `npm run vectors` writes', () => {
  expect(specText(ENTRIES_FILE)).toBe(entriesText())
})

describe('values.json', () => {
  for (const { name, value, serializers } of readSpec<ValueRow[]>('vectors/values.json')) {
    test.each(serializers)(`${name}, %s: comes back`, (serializer) => {
      const payload = encodePayload(serializer, fromTagged(value))
      const decoded = decodePayload(SERIALIZER_IDS[serializer], payload)
      expect(withoutJsonZero(toTagged(decoded))).toEqual(withoutJsonZero(asHere(value)))
    })
  }
})

/** JSON does not promise the sign of zero. */
function withoutJsonZero(tagged: Tagged): Tagged {
  return JSON.parse(JSON.stringify(tagged).replaceAll('{"float":"-0.0"}', '{"int":"0"}')) as Tagged
}

describe('MessagePack is as short as Rust writes it', () => {
  const rows = readSpec<EntryRow[]>('vectors/entries.rust.json').filter(
    // What JavaScript has exactly, but for rows that show forms which are not the shortest.
    (row) =>
      !row.name.startsWith('other ') &&
      row.serializer === 'messagepack' &&
      row.compressor === 'none' &&
      JSON.stringify(asHere(row.value)) === JSON.stringify(row.value),
  )

  test('for many values', () => {
    expect(rows.length).toBeGreaterThan(50)
  })

  test.each(rows.map((row) => [row.name, row] as const))('%s', (_, row) => {
    const payload = encodePayload('messagepack', fromTagged(row.value))
    const entry = Buffer.from(row.entry, 'hex')
    expect(Buffer.from(payload)).toEqual(entry.subarray(entry.readUInt16LE(22)))
  })
})

describe('refused.json', () => {
  interface Refused {
    name: string
    serializer: SerializerName
    value: Tagged
    path: string
  }
  const rows = readSpec<Refused[]>('vectors/refused.json')

  // Python's tuple in a set is a list here, like any other.
  test.each(rows.map((row) => [row.name, row] as const))('%s', (_, row) => {
    const refusal = failure(() => encodePayload(row.serializer, fromTagged(row.value)))
    expect(refusal).toBeInstanceOf(UnsupportedValue)
    expect((refusal as UnsupportedValue).path).toBe(row.path)
  })
})

describe('malformed.json', () => {
  interface Malformed {
    name: string
    entry: string
    error: string
  }
  const rows = readSpec<Malformed[]>('vectors/malformed.json')

  test.each(rows.map((row) => [row.name, row] as const))('%s', (_, row) => {
    const refusal = failure(() => decodeEntry(Buffer.from(row.entry, 'hex')))
    expect(refusal).toBeInstanceOf(PolycacheError)
    expect((refusal as PolycacheError).code).toBe(row.error)
  })
})

test('values of sets are compared without their order', () => {
  expect(toTagged(new Set([2, 1]))).toEqual(toTagged(new Set([1, 2])))
  expect(inOrder([3, 1, 2])).toEqual([1, 2, 3])
})
