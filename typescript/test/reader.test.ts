/** Reading in the mapping and by the native part: two ways to the same answer. */
import { describe, expect, test } from 'vitest'
import { Mapping } from '../src/host/mapping.ts'
import { type NativeStore, native } from '../src/host/native.ts'
import type { Cache, PolycacheError } from '../src/index.ts'
import { folder, open } from './support/caches.ts'
import { failure } from './support/failure.ts'
import { withoutMapping } from './support/native-reads.ts'
import { filesOf, readSpec } from './support/spec.ts'
import { asHere, toTagged } from './support/tagged.ts'
import type { EntryRow } from './support/vectors.ts'

const MAX_VALUE = 64 * 2 ** 20

function openStore(path: string): NativeStore {
  const options = {
    path,
    leaseTimeout: 1000,
    emptyAtBoot: false,
    flushEvery: 5000,
    manualClock: false,
  }
  return native().NativeStore.open(options)
}

/** One directory with a cache that reads each way, and a way to store any bytes as an entry. */
async function bothWays(
  use: (
    caches: Cache[],
    put: (key: string, entry: Uint8Array) => void,
    at: (now: number) => void,
  ) => void,
): Promise<void> {
  const path = folder()
  let now = 0
  const clock = () => now
  const mapped = open({ path, limit: '64MiB', clock })
  await withoutMapping(async () => {
    const store = openStore(path)
    const namespace = store.namespace([], 3, 0, MAX_VALUE)
    const put = (key: string, entry: Uint8Array) => namespace.putEntry(Buffer.from(key), entry)
    const native = open({ path, clock })
    use([mapped, native], put, (time) => {
      now = time
    })
    store.close()
  })
}

describe('every entry of the vectors', () => {
  test.each(filesOf('vectors').filter((name) => name.startsWith('entries.')))(
    '%s',
    async (file) => {
      await bothWays((caches, put, at) => {
        for (const row of readSpec<EntryRow[]>(`vectors/${file}`)) {
          // A moment at which it is served, where there is one.
          at(row.expires === 0 ? row.created : Math.min(row.created, row.expires - 1))
          put(row.name, Buffer.from(row.entry, 'hex'))
          for (const cache of caches) {
            const value = cache.getSync(row.name)
            if (row.expires > 0 && row.expires < row.created - 999) expect(value).toBeUndefined()
            else expect(toTagged(value), row.name).toEqual(asHere(row.value))
          }
        }
      })
    },
  )

  test('a malformed one is the same error, or the same value', async () => {
    await bothWays((caches, put) => {
      const codes = new Set<unknown>()
      for (const row of readSpec<{ name: string; entry: string }[]>('vectors/malformed.json')) {
        const entry = Buffer.from(row.entry, 'hex')
        // A store takes nothing else for an entry.
        if (entry.length < 24 || entry[0] !== 0xc1) continue
        put(row.name, entry)
        const [mapped, natively] = caches.map((cache) => {
          let value: unknown
          const refusal = failure(() => {
            value = cache.getSync(row.name)
          }) as PolycacheError | undefined
          codes.add(refusal?.code)
          return refusal?.code ?? (value === undefined ? 'miss' : toTagged(value))
        })
        expect(mapped, row.name).toEqual(natively)
      }
      expect(codes).toContain('malformed_entry')
      expect(codes).toContain('unsupported_version')
      expect(codes).toContain('value_too_large')
    })
  })
})

// Long text is decoded from a copy, short ASCII is made in the mapping.
describe.each([1, 2000, 2047, 2048, 2049, 70_000])('text of %i bytes', (length) => {
  test.each([
    ['ASCII', 'x'],
    ['Latin-1', '\u00e9'],
    ['more than two bytes', '\u{1f980}'],
    ['the replacement character', '\ufffd'],
  ])('that ends with %s', async (_, last) => {
    await bothWays((caches) => {
      const text = 'a'.repeat(Math.max(0, length - Buffer.byteLength(last))) + last
      for (const writer of caches) {
        writer.setSync('k', text)
        for (const cache of caches) expect(cache.getSync('k')).toBe(text)
      }
    })
  })
})

test('reads of an entry are counted up to three, so that recycling keeps it', () => {
  const cache = open({ memory: false })
  const store = openStore(cache.path!)
  const { indexBytes, layout } = Mapping.of(store, store.layout()) as Mapping
  const visited = () => {
    const { visitedAt, levels, bucketSlots } = layout
    return [...indexBytes.subarray(visitedAt, visitedAt + levels[0] * bucketSlots)].filter(Boolean)
  }
  cache.setSync('a', 'text')
  cache.setSync('b', { an: 'object' })
  expect(visited()).toEqual([])
  cache.getSync('nothing')
  expect(visited()).toEqual([])
  for (const reads of [1, 2, 3, 3]) {
    cache.getSync('a')
    expect(visited()).toEqual([reads])
  }
  cache.getSync('b')
  expect(visited().sort()).toEqual([1, 3])
  store.close()
})

test('a hit is read without a native call', () => {
  const { calls } = native()
  const cache = open()
  cache.setSync('text', 'x'.repeat(100))
  cache.setSync('object', { a: [1, 'b'] })
  cache.setSync('living', 'x', { ttl: '1h' })
  cache.getSync('text')
  const { get } = calls
  let asked = 0
  Object.assign(calls, {
    get: (...given: Parameters<typeof get>) => {
      asked++
      return get(...given)
    },
  })
  try {
    for (const key of ['text', 'object', 'living']) expect(cache.getSync(key)).toBeDefined()
    expect(cache.getSync('nothing')).toBeUndefined()
    expect(asked).toBe(0)
    const compressed = open({ path: cache.path!, compressor: 'zstd' })
    compressed.setSync('compressed', 'x'.repeat(100))
    expect(cache.getSync('compressed')).toBe('x'.repeat(100))
    expect(asked).toBe(1)
  } finally {
    Object.assign(calls, { get })
  }
})

test('entries in a level of the index that another handle opened are read in the mapping', () => {
  const reader = open({ limit: '64MiB' })
  reader.setSync('key', 'v')
  expect(reader.getSync('key')).toBe('v')
  const writer = open({ path: reader.path!, limit: '64MiB' })
  const numbers = Array.from({ length: 40_000 }, (_, number) => number)
  for (const number of numbers) writer.setSync(`key ${number}`, 'v')
  const { calls } = native()
  const { get } = calls
  let asked = 0
  Object.assign(calls, {
    get: (...given: Parameters<typeof get>) => {
      asked++
      return get(...given)
    },
  })
  try {
    expect(numbers.filter((number) => reader.getSync(`key ${number}`) !== 'v')).toEqual([])
    expect(reader.getSync('key')).toBe('v')
    expect(reader.getSync('nothing')).toBeUndefined()
    expect(asked).toBe(0)
  } finally {
    Object.assign(calls, { get })
  }
})

test('buffers over the mapping are detached when the last handle closes', () => {
  const path = folder()
  const [one, two] = [open({ path, limit: '4MiB' }), open({ path, limit: '4MiB' })]
  one.setSync('k', 'v')
  const store = openStore(path)
  const mapping = Mapping.of(store, store.layout()) as Mapping
  const { index } = mapping
  expect(index.length).toBeGreaterThan(0)
  const window = mapping.window(0)
  expect(mapping.window(1)).toBeUndefined()
  mapping.detach()
  store.close()
  expect([index.length, window?.words.length, window?.bytes.length]).toEqual([0, 0, 0])
  one.closeSync()
  expect(two.getSync('k')).toBe('v')
})
