/** Dictionaries: spec/vectors, and a cache that compresses with them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Cache, InvalidArgument, PolycacheError, UnknownDictionary } from '../src/index.ts'
import { decodeEntry } from './support/entries.ts'
import { failure } from './support/failure.ts'
import { readSpec } from './support/spec.ts'
import { asHere, type Tagged, toTagged } from './support/tagged.ts'

interface Row {
  name: string
  dictionaries: string[]
  entry: string
  value?: Tagged
  error?: string
}

const KNOWN = new Map(
  readSpec<{ name: string; dictionary: string }[]>('vectors/dictionaries.json').map((row) => [
    row.name,
    Buffer.from(row.dictionary, 'hex'),
  ]),
)
const FIRST = KNOWN.get('first') as Buffer
const SECOND = KNOWN.get('second') as Buffer

describe('dictionary_entries.json', () => {
  const rows = readSpec<Row[]>('vectors/dictionary_entries.json')

  test.each(rows.map((row) => [row.name, row] as const))('%s', (_, row) => {
    const names = row.dictionaries.map((name) => KNOWN.get(name) as Buffer)
    const dictionaries = names.length === 0 ? undefined : names
    const read = () =>
      decodeEntry(Buffer.from(row.entry, 'hex'), undefined, undefined, dictionaries)
    if (row.error === undefined) {
      expect(toTagged(read().value)).toEqual(asHere(row.value as Tagged))
    } else {
      const refusal = failure(read)
      expect(refusal).toBeInstanceOf(PolycacheError)
      expect((refusal as PolycacheError).code).toBe(row.error)
    }
  })
})

describe('a cache', () => {
  let path: string
  const user = { id: 7, name: 'user 7', city: 'Chur', roles: ['reader'], active: true }

  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'polycache-dictionaries-'))
  })
  afterEach(() => rmSync(path, { recursive: true }))

  const open = (dictionaries?: Uint8Array[]) =>
    new Cache({
      path,
      compressor: 'zstd',
      memory: false,
      ...(dictionaries !== undefined && { dictionaries }),
    })

  test('writes with the first and reads with all', () => {
    const [old, both, next, without] = [
      open([FIRST]),
      open([SECOND, FIRST]),
      open([SECOND]),
      open(),
    ]
    old.setSync('k', user)
    expect(both.getSync('k')).toEqual(user)
    expect(failure(() => next.getSync('k'))).toBeInstanceOf(UnknownDictionary)
    expect(failure(() => without.getSync('k'))).toBeInstanceOf(UnknownDictionary)
    both.setSync('k', user)
    expect(next.getSync('k')).toEqual(user)
    for (const cache of [old, both, next, without]) cache.closeSync()
  })

  test.each([[[]], [[Buffer.from('no')]], [['text']], [FIRST], [7], [[FIRST, FIRST]]])(
    'refuses %#',
    (wrong) => {
      expect(failure(() => open(wrong as Uint8Array[]))).toBeInstanceOf(InvalidArgument)
    },
  )

  test('needs a compressor, and a directory', () => {
    const dictionaries = [FIRST]
    expect(failure(() => new Cache({ path, dictionaries }))).toBeInstanceOf(InvalidArgument)
    const alone = () => new Cache({ compressor: 'zstd', dictionaries })
    expect(failure(alone)).toBeInstanceOf(InvalidArgument)
  })
})
