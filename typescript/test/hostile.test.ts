/** Bytes from anyone: decoding ends with a value or a typed error, whatever they are. */
import { describe, expect, test } from 'vitest'
import { Scratch } from '../src/entry/scratch.ts'
import { SERIALIZER_IDS, type SerializerName } from '../src/entry/serializer.ts'
import { keyHash } from '../src/host/hash.ts'
import type { Mapping, Window } from '../src/host/mapping.ts'
import type { Layout } from '../src/host/native.ts'
import { ASK_NATIVE, MappedReader } from '../src/host/reader.ts'
import { MalformedEntry, PolycacheError, UnsupportedSerializer } from '../src/index.ts'
import { KeyBuffer } from '../src/key.ts'
import { decodePayload } from './support/entries.ts'
import { failure } from './support/failure.ts'
import { Random } from './support/random.ts'
import { readSpec } from './support/spec.ts'
import { fromTagged, toTagged } from './support/tagged.ts'
import { encodePayload, type ValueRow } from './support/vectors.ts'

describe('payloads', () => {
  const serializers = Object.keys(SERIALIZER_IDS) as SerializerName[]

  test.each(serializers)('random bytes as %s', (serializer) => {
    const random = new Random(1)
    for (let turn = 0; turn < 20_000; turn++) {
      const bytes = random.bytes(random.below(40))
      const refusal = failure(() => toTagged(decodePayload(SERIALIZER_IDS[serializer], bytes)))
      if (refusal !== undefined) expect(refusal).toBeInstanceOf(MalformedEntry)
    }
  })

  test('good ones with a few bytes changed, cut off or doubled', () => {
    const random = new Random(2)
    let refused = 0
    for (const { value, serializers } of readSpec<ValueRow[]>('vectors/values.json')) {
      for (const serializer of serializers) {
        const payload = encodePayload(serializer, fromTagged(value)).slice(0, 2000)
        for (let turn = 0; turn < 30; turn++) {
          const bytes = damaged(payload, random)
          const refusal = failure(() => toTagged(decodePayload(SERIALIZER_IDS[serializer], bytes)))
          if (refusal === undefined) continue
          expect(refusal).toBeInstanceOf(MalformedEntry)
          refused++
        }
      }
    }
    expect(refused).toBeGreaterThan(1000)
  })

  test('a serializer that is not known', () => {
    for (const id of [4, 5, 255]) {
      expect(failure(() => decodePayload(id, Uint8Array.of(0)))).toBeInstanceOf(
        UnsupportedSerializer,
      )
    }
  })
})

function damaged(payload: Uint8Array, random: Random): Uint8Array {
  const bytes = [...payload]
  for (let changes = random.below(3); changes >= 0; changes--) {
    const at = random.below(bytes.length + 1)
    const how = random.below(4)
    if (how === 0) bytes.splice(at, 1)
    else if (how === 1) bytes.splice(at, 0, random.below(256))
    else if (how === 2) bytes.length = at
    else bytes[at] = random.below(256)
  }
  return Uint8Array.from(bytes, (byte) => byte ?? 0)
}

describe('a mapping that anyone may have written to', () => {
  const BLOCK = 4096
  const layout: Layout = {
    epochAt: 128,
    slotsAt: 256,
    visitedAt: 256 + 4 * 8 * 8,
    indexLength: 1024,
    levels: [4],
    bucketSlots: 8,
    blockSize: BLOCK,
    unit: 16,
    windowSize: 4 * BLOCK,
    blocksLength: 6 * BLOCK,
    recordHeader: 32,
    entryHeader: 24,
    limit: 0,
    seedLow: 12,
    seedHigh: 34,
    orderedLoads: true,
    readOnly: false,
  }

  /** Six blocks in two windows, the second half as long. */
  class Forgery {
    readonly layout = layout
    readonly index = new Int32Array(layout.indexLength / 4)
    readonly indexBytes = new Uint8Array(this.index.buffer)
    readonly windows: Window[] = [4, 2].map((blocks) => {
      const memory = new ArrayBuffer(blocks * BLOCK)
      return {
        words: new Int32Array(memory),
        bytes: Buffer.from(memory) as Window['bytes'],
        view: new DataView(memory),
      }
    })

    window(number: number): Window | undefined {
      return this.windows[number]
    }
  }

  const key = new KeyBuffer(Buffer.from('::'))
  const hash = { low: 0, high: 0 }

  /** Words and records that come as near to right ones as they can, but for what `random` does to them. */
  function forge(random: Random): Forgery {
    const forgery = new Forgery()
    const { index } = forgery
    // A record that does not fit its block is the native part's, so misses are of those that are nearly empty.
    const filled = random.below(4) === 0 ? 1 : 8
    for (let slot = 0; slot < 32; slot++) {
      if (random.below(12) >= filled) continue
      const tag = random.below(4) === 0 ? random.below(1024) : hash.high >>> 22
      const state = random.below(8) === 0 ? random.below(4) : 2
      const at = layout.slotsAt / 4 + slot * 2
      index[at] = (state << 30) | (tag << 20) | random.below(1 << 20)
      const location =
        random.below(6) === 0 ? random.below(2 ** 32) : random.below((6 * BLOCK) / 16)
      index[at + 1] = location
      writeRecord(forgery, location, random)
    }
    return forgery
  }

  function writeRecord(forgery: Forgery, location: number, random: Random): void {
    const offset = location * 16
    const window = forgery.windows[Math.floor(offset / (4 * BLOCK))]
    const at = offset % (4 * BLOCK)
    if (window === undefined || at + 300 > window.bytes.length) return
    const { view, bytes } = window
    view.setUint32(at + 4, random.below(6) === 0 ? random.below(2 ** 24) : key.to, true)
    const length = random.pick([
      0,
      1,
      23,
      24,
      25,
      30,
      60,
      100,
      BLOCK,
      2 ** 24,
      2 ** 31,
      2 ** 32 - 1,
    ])
    view.setUint32(at + 8, length, true)
    view.setUint32(at + 12, hash.high, true)
    bytes.set(key.bytes.subarray(0, key.to), at + 32)
    const entry = at + 32 + key.to
    bytes.set(random.bytes(120), entry)
    if (random.below(8) === 0) return
    // A plain entry that never expires, of some serializer.
    bytes.set([0xc1, 1, random.below(5), 0], entry)
    bytes.fill(0, entry + 8, entry + 24)
    view.setUint16(entry + 22, 24, true)
    const marker = random.pick([0xa5, 0xd9, 0xda, 0xdb, 0x93, 0x82, 0xc4, 0xc7, random.below(256)])
    view.setUint8(entry + 24, marker)
  }

  test('gives a value within a block, a miss, a typed error, or asks the native part', () => {
    key.set('user:1')
    keyHash(layout.seedLow, layout.seedHigh, key.words, key.to, hash)
    const random = new Random(3)
    const seen = { hit: 0, miss: 0, native: 0, error: 0 }
    for (let turn = 0; turn < 5000; turn++) {
      const forgery = forge(random)
      const reader = new MappedReader(
        forgery as unknown as Mapping,
        key,
        new Scratch(),
        BLOCK,
        () => 0,
        undefined,
      )
      let value: unknown
      const refusal = failure(() => {
        value = reader.get()
      })
      if (refusal !== undefined) {
        expect(refusal).toBeInstanceOf(PolycacheError)
        seen.error++
      } else if (value === undefined) seen.miss++
      else if (value === ASK_NATIVE) seen.native++
      else {
        seen.hit++
        expect(JSON.stringify(toTagged(value)).length).toBeLessThan(BLOCK * 4)
      }
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100)
  })
})
