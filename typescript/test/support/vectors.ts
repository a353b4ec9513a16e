/** Writes spec/vectors/entries.typescript.json: `npm run vectors`, or with `encrypted` encrypted.typescript.json. */

import { type EncryptionKey, encryptionOf } from '../../src/encryption.ts'
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

/** A row of encryption.json; encrypted.<language>.json has the entry too. */
export interface EncryptionRow extends Omit<EntryRow, 'entry'> {
  encryption: { id: number; key: string }[]
  full_key: string
  entry?: string
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
export function entriesText(rows: readonly object[] = entryRows()): string {
  return `[\n${rows.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`
}

/** The keys of a row. */
export function keysOf(row: Pick<EncryptionRow, 'encryption'>): EncryptionKey[] {
  return row.encryption.map(({ id, key }) => ({ id, key: Buffer.from(key, 'hex') }))
}

/** The rows of encryption.json, as TypeScript encrypts them; with other nonces each time. */
export function encryptedRows(): EncryptionRow[] {
  return readSpec<EncryptionRow[]>('vectors/encryption.json').map((row) => {
    const header = {
      serializer: SERIALIZER_IDS[row.serializer],
      level: row.compressor === 'none' ? 0 : 3,
      created: row.created,
      expires: row.expires,
      ...(row.fresh_until !== null && { freshUntil: row.fresh_until }),
      tags: row.tags.map(([name, generation]) => ({ name, generation })),
    }
    const payload = encodePayload(row.serializer, fromTagged(row.value))
    const keys = encryptionOf(keysOf(row))
    const entry = native().encodeEntry(header, payload, keys, Buffer.from(row.full_key, 'hex'))
    return { ...row, entry: Buffer.from(entry).toString('hex') }
  })
}

export const ENTRIES_FILE = 'vectors/entries.typescript.json'
export const ENCRYPTED_FILE = 'vectors/encrypted.typescript.json'

if (import.meta.main) {
  if (process.argv[2] === 'encrypted') writeSpec(ENCRYPTED_FILE, entriesText(encryptedRows()))
  else writeSpec(ENTRIES_FILE, entriesText())
}
