/** Encryption: spec/vectors, and what conformance cases cannot say. */
import { createDecipheriv } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { SERIALIZER_IDS } from '../src/entry/serializer.ts'
import { Cache, InvalidArgument, PolycacheError } from '../src/index.ts'
import { folder } from './support/caches.ts'
import { decodeEntry } from './support/entries.ts'
import { failure } from './support/failure.ts'
import { filesOf, readSpec } from './support/spec.ts'
import { asHere, toTagged } from './support/tagged.ts'
import { type EncryptionRow, encryptedRows, keysOf } from './support/vectors.ts'

const bytesOf = (hex: string | undefined) => Buffer.from(hex as string, 'hex')
const recipes = readSpec<EncryptionRow[]>('vectors/encryption.json')

const FILES = filesOf('vectors').filter((name) => /^encrypted\.\w+\.json$/.test(name))

test('TypeScript and another language wrote encrypted entries', () => {
  expect(FILES).toContain('encrypted.typescript.json')
  expect(FILES.length).toBeGreaterThan(1)
})

for (const file of FILES) {
  describe(file, () => {
    const rows = readSpec<EncryptionRow[]>(`vectors/${file}`)

    test('is what encryption.json asks for', () => {
      const comparable = (row: EncryptionRow) => {
        const { entry, ...rest } = { ...row, value: asHere(row.value) }
        return rest
      }
      expect(rows.map(comparable)).toEqual(recipes.map(comparable))
    })

    test.each(rows.map((row) => [row.name, row] as const))('%s', (_, row) => {
      const { header, value } = decodeEntry(bytesOf(row.entry), keysOf(row), bytesOf(row.full_key))
      expect(toTagged(value)).toEqual(asHere(row.value))
      expect({
        serializer: header.serializer,
        compressed: header.level !== 0,
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

    // By the letter of spec/entry.md and with OpenSSL, so that the engine does not vouch for itself.
    test.each(rows.map((row) => [row.name, row] as const))('%s: read by node:crypto', (_, row) => {
      const entry = bytesOf(row.entry)
      const end = entry.readUInt16LE(22)
      const id = entry.readUInt32LE(end - 16)
      const key = row.encryption.find((one) => one.id === id)?.key
      const decipher = createDecipheriv('aes-256-gcm', bytesOf(key), entry.subarray(end - 12, end))
      decipher.setAAD(
        Buffer.concat([entry.subarray(0, 4), entry.subarray(8, end), bytesOf(row.full_key)]),
      )
      decipher.setAuthTag(entry.subarray(-16))
      const payload = Buffer.concat([decipher.update(entry.subarray(end, -16)), decipher.final()])
      if (row.compressor === 'none' && row.serializer === 'text') {
        expect(payload.toString()).toBe(asText(row))
      } else {
        expect(payload.length).toBe(entry.length - end - 16)
      }
    })
  })
}

function asText(row: EncryptionRow): string {
  return asHere(row.value) as string
}

test('TypeScript still writes entries of that form', () => {
  const committed = readSpec<EncryptionRow[]>('vectors/encrypted.typescript.json')
  for (const [place, row] of encryptedRows().entries()) {
    const fresh = bytesOf(row.entry)
    const old = bytesOf(committed[place].entry)
    const nonce = fresh.readUInt16LE(22) - 12
    expect(old.length).toBe(fresh.length)
    expect(old.subarray(0, 4)).toEqual(fresh.subarray(0, 4))
    expect(old.subarray(8, nonce)).toEqual(fresh.subarray(8, nonce))
    expect(old.subarray(nonce, nonce + 12)).not.toEqual(fresh.subarray(nonce, nonce + 12))
  }
})

describe('encrypted_malformed.json', () => {
  interface Malformed {
    name: string
    encryption: { id: number; key: string }[] | null
    full_key: string
    entry: string
    error: string
  }
  const rows = readSpec<Malformed[]>('vectors/encrypted_malformed.json')

  test.each(rows.map((row) => [row.name, row] as const))('%s', (_, row) => {
    const { encryption } = row
    const keys = encryption === null ? undefined : keysOf({ encryption })
    const refusal = failure(() => decodeEntry(bytesOf(row.entry), keys, bytesOf(row.full_key)))
    expect(refusal).toBeInstanceOf(PolycacheError)
    expect((refusal as PolycacheError).code).toBe(row.error)
  })
})

const SECRET = Buffer.from('0123456789abcdefFEDCBA9876543210')
const encryption = [{ id: 20261122, key: SECRET }]

test('no value lies in the directory', () => {
  const path = folder()
  const cache = new Cache({ path, limit: '4MiB', encryption })
  cache.setSync('card', { number: '4111 1111 1111 1111' })
  expect(cache.getSync('card')).toEqual({ number: '4111 1111 1111 1111' })
  const files = readdirSync(path, { recursive: true, withFileTypes: true })
  const stored = Buffer.concat(
    files.filter((one) => one.isFile()).map((one) => readFileSync(`${one.parentPath}/${one.name}`)),
  )
  expect(stored.includes('4111')).toBe(false)
  expect(stored.includes('card')).toBe(true)
  cache.closeSync()
})

test('nothing shows a key', () => {
  const path = folder()
  const cache = new Cache({ path, limit: '4MiB', encryption, namespace: 'shop' })
  const shown = inspect(cache, { depth: 20, showHidden: true }) + JSON.stringify(cache)
  expect(shown).not.toMatch(/0123456789|30 31 32|48,\s*49/)
  cache.closeSync()
  for (const key of [
    SECRET.toString(),
    SECRET.subarray(1),
    [...SECRET],
    new DataView(SECRET.buffer),
  ]) {
    const refusal = failure(() => new Cache({ path, encryption: [{ id: 1, key }] as never }))
    expect(refusal).toBeInstanceOf(InvalidArgument)
    expect((refusal as Error).message).not.toMatch(/123456789|30 31 32|48,\s*49/)
  }
})

test('the bytes that were passed may be wiped', () => {
  const key = Buffer.alloc(32, 7)
  const cache = new Cache({ path: folder(), limit: '4MiB', encryption: [{ id: 1, key }] })
  cache.setSync('k', 'v')
  key.fill(0)
  cache.setSync('l', 'w')
  expect([cache.getSync('k'), cache.namespace('n').getSync('k'), cache.getSync('l')]).toEqual([
    'v',
    undefined,
    'w',
  ])
  cache.closeSync()
})

test('keys mean nothing without a directory', () => {
  const refusal = failure(() => new Cache({ encryption }))
  expect(refusal).toBeInstanceOf(InvalidArgument)
})
