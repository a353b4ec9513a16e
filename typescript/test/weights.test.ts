/** What a value may weigh: spec/vectors/weights.json, and what a cache does with it. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { type SerializerName, WriterPool } from '../src/entry/serializer.ts'
import { measure } from '../src/entry/weight.ts'
import { type CacheOptions, PolycacheError, ValueTooLarge } from '../src/index.ts'
import { folder, open } from './support/caches.ts'
import { decodeEntry } from './support/entries.ts'
import { failure } from './support/failure.ts'
import { readSpec } from './support/spec.ts'
import { keysOf } from './support/vectors.ts'

interface Row {
  name: string
  serializer: SerializerName
  max_value: number
  entry: string
  error?: string
  encryption?: { id: number; key: string }[]
  full_key?: string
  dictionaries?: string[]
}

const ROWS = readSpec<Row[]>('vectors/weights.json')
const HOSTILE = ROWS.filter((row) => row.name.startsWith('hostile'))
const DICTIONARIES = new Map(
  readSpec<{ name: string; dictionary: string }[]>('vectors/dictionaries.json').map((row) => [
    row.name,
    Buffer.from(row.dictionary, 'hex'),
  ]),
)
/** Bytes of a process that reads a hostile row. Without the limit on weights it has 5 GB. */
const MOST_MEMORY = 768 * 2 ** 20
const READER = fileURLToPath(new URL('support/read-entry.ts', import.meta.url))

function read(row: Row): unknown {
  return decodeEntry(
    Buffer.from(row.entry, 'hex'),
    row.encryption && keysOf({ encryption: row.encryption }),
    Buffer.from(row.full_key ?? '', 'hex'),
    row.dictionaries?.map((name) => DICTIONARIES.get(name) as Buffer),
    row.max_value,
  ).value
}

/** The weight of a written value, or 0 for one that may be stored. */
function excess(row: Row, value: unknown): number {
  const writer = new WriterPool(row.serializer).take()
  const length = writer.write(value)
  const measured = measure(writer, length, row.max_value)
  return measured === length ? 0 : -measured
}

describe('weights.json', () => {
  test.each(ROWS.map((row) => [row.name, row] as const))('%s', (_, row) => {
    if (row.error !== undefined) {
      const refusal = failure(() => read(row))
      expect(refusal).toBeInstanceOf(PolycacheError)
      expect((refusal as PolycacheError).code).toBe(row.error)
      return
    }
    const value = read(row) as unknown[]
    expect(excess(row, value)).toBe(0)
    value.push(null)
    expect(excess(row, value)).toBe(Math.max(row.max_value, 4 * 2 ** 20) + 4)
  })
})

test.each(HOSTILE.map((row) => [row.name, row] as const))('little memory for %s', (_, row) => {
  const said = execFileSync(process.execPath, [READER], { input: row.entry, encoding: 'utf8' })
  const { code, peak } = JSON.parse(said) as { code: string; peak: number }
  expect(code).toBe(row.error)
  expect(peak).toBeLessThan(MOST_MEMORY)
})

const KEY = { id: 1, key: Buffer.alloc(32, 1) }

describe('a cache refuses what is too heavy', () => {
  test.each<[string, Partial<CacheOptions>]>([
    ['plain', {}],
    ['without a memory tier', { memory: false }],
    ['compressed', { compressor: 'zstd' }],
    ['encrypted', { encryption: [KEY] }],
    ['JSON', { serializer: 'json', memory: false }],
  ])('%s', (_, options) => {
    const path = folder()
    const cache = open({ path, limit: '1GiB', ...options })
    const cautious = open({ path, maxValue: '2MiB', ...options })
    // 4 MiB with the list around them.
    const lists = 262_143
    const listsOf = (count: number) => Array.from({ length: count }, () => [])
    cautious.setSync('k', listsOf(lists))
    expect((cautious.getSync('k') as unknown[]).length).toBe(lists)
    cache.setSync('k', listsOf(lists + 1))
    const refused = failure(() => cautious.getSync('k'))
    expect(refused).toBeInstanceOf(ValueTooLarge)
    // By the option's name here, also where the native part reads.
    expect(refused).toMatchObject({ message: expect.stringContaining('raise maxValue;') })
    expect(failure(() => cautious.peekSync('k'))).toBeInstanceOf(ValueTooLarge)
    expect((cache.getSync('k') as unknown[]).length).toBe(lists + 1)
    const heavy = listsOf(lists + 1)
    const replaced = failure(() => cautious.replaceSync('k', heavy))
    expect(replaced).toMatchObject({ code: 'value_too_large', size: 4_194_320, limit: 4_194_304 })
    expect(cache.hasSync('k')).toBe(true)
    expect(failure(() => cautious.setSync('k', heavy))).toBeInstanceOf(ValueTooLarge)
    expect(cache.hasSync('k')).toBe(false)
    expect(cautious.getOrSetSync('k', () => heavy)).toBe(heavy)
    expect(cache.hasSync('k')).toBe(false)
    expect(cautious.statsSync().unstored).toBe(1)
  })
})
