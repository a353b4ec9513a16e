import { asBuffer, type Word } from '../redis-namespace/word.ts'
import { UncacheableRead } from './refusal.ts'

const SLOTS = 16_384
const OPEN = '{'.charCodeAt(0)
const CLOSE = '}'.charCodeAt(0)

/**
 * The slot of a read's keys.
 * @throws UncacheableRead for keys of several slots: no one server answers for all of them
 */
export function slotOfAll(name: Word, keys: readonly Word[]): number {
  const [slot, ...others] = keys.map(slotOf)
  if (others.some((one) => one !== slot)) {
    throw new UncacheableRead(
      `the keys of this ${String(name).toUpperCase()} are in several slots of the Cluster: give them one hash tag, as in ` +
        '{user:7}:name and {user:7}:mail, or read each by itself',
    )
  }
  return slot
}

/** The slot of a key: the CRC16 (XMODEM) of its hash tag, or of all of it. */
export function slotOf(key: Word): number {
  let crc = 0
  for (const byte of tagOf(typeof key === 'string' ? Buffer.from(key) : asBuffer(key))) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)
    crc &= 0xffff
  }
  return crc % SLOTS
}

function tagOf(key: Buffer): Buffer {
  const open = key.indexOf(OPEN)
  const close = open < 0 ? -1 : key.indexOf(CLOSE, open + 1)
  return close > open + 1 ? key.subarray(open + 1, close) : key
}
