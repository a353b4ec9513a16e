/** Writes spec/vectors/entries.typescript.json: `npm run vectors`. */
import { SERIALIZER_IDS, type SerializerName, WriterPool } from '../../src/entry/serializer.ts'
import { type EntryHeader, native } from '../../src/host/native.ts'
import { readSpec, writeSpec } from './spec.ts'
import { asHere, fromTagged, type Tagged } from './tagged.ts'

/** A row of values.json. */
export interface ValueRow {
  name: string
  value: Tagged
  serializers: SerializerName[]
}

/** A row of entries.<language>.json. */
export interface EntryRow {
  name: string
  entry: string
  serializer: SerializerName
  compressor: string
  created: number
  expires: number
  fresh_until: number | null
  tags: [string, string][]
  value: Tagged
}

const CREATED = 1_700_000_000_000

/** What each value is written with, besides its serializers: the level, and what the header says. */
const COMPRESSORS: [name: string, level: number][] = [
  ['none', 0],
  ['zstd', 3],
]

/** The payload of a value. */
export function encodePayload(serializer: SerializerName, value: unknown): Uint8Array {
  const writer = new WriterPool(serializer).take()
  const length = writer.write(value)
  return writer.bytes.slice(0, length)
}

function row(
  name: string,
  serializer: SerializerName,
  [compressor, level]: [string, number],
  value: Tagged,
  header: Partial<EntryHeader> = {},
): EntryRow {
  const full = { level, created: CREATED, expires: 0, tags: [], ...header }
  const payload = encodePayload(serializer, fromTagged(value))
  const entry = native().encodeEntry({ serializer: SERIALIZER_IDS[serializer], ...full }, payload)
  return {
    name,
    entry: Buffer.from(entry).toString('hex'),
    serializer,
    compressor,
    created: full.created,
    expires: full.expires,
    fresh_until: header.freshUntil ?? null,
    tags: full.tags.map((tag) => [tag.name, tag.generation]),
    value: asHere(value),
  }
}

/** All rows that TypeScript writes. */
export function entryRows(): EntryRow[] {
  const rows: EntryRow[] = []
  for (const { name, value, serializers } of readSpec<ValueRow[]>('vectors/values.json')) {
    for (const serializer of serializers) {
      for (const compressor of COMPRESSORS) {
        rows.push(row(`${name}, ${serializer}, ${compressor[0]}`, serializer, compressor, value))
      }
    }
  }
  const headers: Record<string, Partial<EntryHeader>> = {
    expires: { expires: CREATED + 1 },
    'the last moments': { created: 2 ** 48 - 1, expires: 2 ** 48 - 1 },
    'fresh until': { expires: CREATED + 1000, freshUntil: CREATED + 500 },
    tags: {
      tags: [
        { name: 'users', generation: '0' },
        { name: 'größe', generation: '18446744073709551615' },
        { name: '', generation: '1' },
      ],
    },
    everything: {
      expires: CREATED + 1000,
      freshUntil: CREATED + 500,
      tags: [{ name: 'users', generation: '7' }],
    },
  }
  for (const [name, header] of Object.entries(headers)) {
    for (const compressor of COMPRESSORS) {
      rows.push(row(`${name}, ${compressor[0]}`, 'messagepack', compressor, 'hello', header))
    }
  }
  return rows
}

/** The file's text: a row a line. */
export function entriesText(): string {
  return `[\n${entryRows()
    .map((one) => JSON.stringify(one))
    .join(',\n')}\n]\n`
}

export const ENTRIES_FILE = 'vectors/entries.typescript.json'

if (import.meta.main) writeSpec(ENTRIES_FILE, entriesText())
