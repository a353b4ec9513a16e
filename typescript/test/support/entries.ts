import { dictionariesOf } from '../../src/dictionaries.ts'
import { type EncryptionKey, encryptionOf } from '../../src/encryption.ts'
import { revive } from '../../src/entry/revive.ts'
import { Scratch } from '../../src/entry/scratch.ts'
import { readPayload } from '../../src/entry/serializer.ts'
import { type EntryHeader, native, typed } from '../../src/host/native.ts'

const MAX_VALUE = 64 * 2 ** 20

/** The value in a payload, in a buffer that has nothing else around it. */
export function decodePayload(
  serializer: number,
  payload: Uint8Array,
  maxValue: number = MAX_VALUE,
): unknown {
  const scratch = new Scratch()
  scratch.reserve(payload.length)
  scratch.bytes.fill(0xff)
  scratch.bytes.set(payload)
  return revive(readPayload(serializer, scratch, 0, payload.length, maxValue), undefined)
}

/** Header and value of an entry, with all of a reader's checks. */
export function decodeEntry(
  entry: Uint8Array,
  keys?: readonly EncryptionKey[],
  fullKey?: Uint8Array,
  dictionaries?: readonly Uint8Array[],
  maxValue: number = MAX_VALUE,
): { header: EntryHeader; value: unknown } {
  let decoded: { header: EntryHeader; payload: Uint8Array }
  try {
    const prepared = dictionaries && dictionariesOf(dictionaries, -1)
    decoded = native().decodeEntry(entry, maxValue, keys && encryptionOf(keys), fullKey, prepared)
  } catch (failure) {
    throw typed(failure)
  }
  return {
    header: decoded.header,
    value: decodePayload(decoded.header.serializer, decoded.payload, maxValue),
  }
}
