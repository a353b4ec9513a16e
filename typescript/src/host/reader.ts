import type { Scratch } from '../entry/scratch.ts'
import { readPayload, SERIALIZER_IDS } from '../entry/serializer.ts'
import { isAscii } from '../entry/text.ts'
import { CLOCK_TOLERANCE } from '../entry/validity.ts'
import type { KeyBuffer } from '../key.ts'
import type { Origin } from '../memory/over-host.ts'
import { type KeyHash, keyHash } from './hash.ts'
import { type Mapping, MOST_READS, type Window } from './mapping.ts'

/** What a look into the mapping may answer besides a value: ask the native part, which is always right. */
export const ASK_NATIVE: unique symbol = Symbol('ask the native part')

/** A payload that was copied to the scratch buffer and is decoded when the copy is known to be whole. */
const COPIED: unique symbol = Symbol('copied')

/** Looks before the native part is asked: a word that changes this often is being written all the time. */
const ATTEMPTS = 8

/** Text of so many bytes is copied first, and then decoded by the engine: both take less time than a look at each word. */
const LONG = 2048

/**
 * Bytes of the longest entry that is read here. The native part has the system read all pages of a longer one at once where
 * memory cannot hold the directory (`spec/host.md`, "Larger than memory"), and takes about as long.
 */
const LONGEST = 64 * 1024

/** The upper bits of a slot's `ver` half that say VALUE; the tag stands below. */
const VALUE = 2 << 10

/** The first four bytes of an entry: magic, version 1, serializer, no compressor. */
const PLAIN_ENTRY = 0x0000_01c1
const { messagepack: MESSAGEPACK, text: TEXT, bytes: BYTES } = SERIALIZER_IDS

/** From this floor on nothing is served any more: the cache was replaced, and the native part says so. */
const NOTHING_IS_SERVED = 2 ** 63

/** What a look found. */
const MISS = 0
const FOUND = 1
const ODD = 2

/**
 * Reads hits of one namespace in the mapping, without a native call (`spec/host.md`, "Reading"; the Rust twin is
 * `crates/host/src/read.rs`).
 *
 * It loads EPOCH, the slot's word, the record, then the word and EPOCH again: if both are unchanged, what was read in
 * between is one whole record. The words are loaded by `Atomics.load`, across which no engine moves other loads, in
 * either direction (in Node it is a call; in JavaScriptCore it clobbers all typed arrays), and x86-64 keeps loads in
 * order. All other loads are plain ones, of bytes that another process may be writing over: every length is checked
 * against its block, and until the second look the bytes read are only counted and copied. Text is copied by
 * `latin1Slice`, which takes as many bytes as it is told whatever they are.
 *
 * A hit makes three atomic loads, of some 6 ns each: the word's half before the location, and after the copy again, then
 * EPOCH. With plain ones in between, a hit would rest on a call that happens to stand between them (an empty value is
 * copied by none), to save 3 % of a hit.
 */
export class MappedReader implements Origin {
  readonly #mapping: Mapping
  readonly #index: Int32Array
  readonly #visited: Uint8Array
  readonly #key: KeyBuffer
  readonly #scratch: Scratch
  readonly #maxValue: number
  readonly #longest: number
  readonly #floorNow: () => number
  readonly #clock: (() => number) | undefined

  readonly #seedLow: number
  readonly #seedHigh: number
  readonly #epochAt: number
  readonly #slotsAt: number
  readonly #visitedAt: number
  /** The first slot of each level, and the mask of its buckets' numbers. */
  readonly #firstSlots: Int32Array
  readonly #bucketMasks: Int32Array
  readonly #unitShift: number
  readonly #windowShift: number
  readonly #windowMask: number
  readonly #blockMask: number
  readonly #recordHeader: number
  readonly #entryHeader: number

  readonly #hash: KeyHash = { low: 0, high: 0 }
  /** The namespace's floor and the number of open levels, and the epoch that they were looked up at. */
  #floor = 0
  #levels = 1
  #knownEpoch = 0
  #isKnown = false

  /** Where the last look found the record, by which word and epoch. */
  #slot = 0
  #reads = 0
  #ver = 0
  #epoch = 0
  #window!: Window
  #start = 0
  #entryLength = 0
  /** What the entry says, as it was copied. */
  #serializer = 0
  #length = 0
  #bornLow = 0
  #bornHigh = 0
  #createdLow = 0
  #createdHigh = 0
  #expiresLow = 0
  #expiresHigh = 0

  constructor(
    mapping: Mapping,
    key: KeyBuffer,
    scratch: Scratch,
    maxValue: number,
    floorNow: () => number,
    clock: (() => number) | undefined,
  ) {
    const { layout } = mapping
    this.#mapping = mapping
    this.#index = mapping.index
    this.#visited = mapping.indexBytes
    this.#key = key
    this.#scratch = scratch
    this.#maxValue = maxValue
    this.#longest = Math.min(maxValue, LONGEST)
    this.#floorNow = floorNow
    this.#clock = clock
    this.#seedLow = layout.seedLow | 0
    this.#seedHigh = layout.seedHigh | 0
    this.#epochAt = layout.epochAt >> 2
    this.#slotsAt = layout.slotsAt >> 2
    this.#visitedAt = layout.visitedAt
    const { levels, bucketSlots } = layout
    this.#bucketMasks = Int32Array.from(levels, (buckets) => buckets - 1)
    this.#firstSlots = new Int32Array(levels.length)
    for (let level = 1; level < levels.length; level++) {
      this.#firstSlots[level] = this.#firstSlots[level - 1] + levels[level - 1] * bucketSlots
    }
    this.#unitShift = Math.log2(layout.unit)
    this.#windowShift = Math.log2(layout.windowSize) - this.#unitShift
    this.#windowMask = 2 ** this.#windowShift - 1
    this.#blockMask = layout.blockSize - 1
    this.#recordHeader = layout.recordHeader
    this.#entryHeader = layout.entryHeader
  }

  /** The value of the key in the key buffer, undefined for a miss, or `ASK_NATIVE`. */
  get(): unknown {
    const { words, to } = this.#key
    keyHash(this.#seedLow, this.#seedHigh, words, to, this.#hash)
    const now = this.#clock === undefined ? 0 : this.#clock()
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const found = this.#look()
      if (found === MISS) return this.#floor < NOTHING_IS_SERVED ? undefined : ASK_NATIVE
      if (found === ODD) break
      const value = this.#copy()
      if (!this.#stands()) continue
      if (value === ASK_NATIVE) break
      if (this.#floor !== 0 && join(this.#bornLow, this.#bornHigh) < this.#floor) {
        return this.#floor < NOTHING_IS_SERVED ? undefined : ASK_NATIVE
      }
      if ((this.#expiresLow | this.#expiresHigh) !== 0 && !this.#isValid(now)) return undefined
      this.#visit()
      return value === COPIED ? this.#decode() : value
    }
    return ASK_NATIVE
  }

  // Where the value came from that `get` gave last.

  get slot(): number {
    return this.#slot
  }

  get ver(): number {
    return this.#ver
  }

  get epoch(): number {
    return this.#epoch
  }

  get created(): number {
    return join(this.#createdLow, this.#createdHigh)
  }

  /** An entry with a time to idle is read by the native part. */
  get keptUntil(): number {
    return join(this.#expiresLow, this.#expiresHigh)
  }

  /** Finds the record of the key. */
  #look(): number {
    const { words, to } = this.#key
    const hash = this.#hash
    const index = this.#index
    const epoch = index[this.#epochAt]
    if (epoch !== this.#knownEpoch || !this.#isKnown) this.#renew(epoch)
    this.#epoch = epoch
    const tagged = VALUE | (hash.high >>> 22)
    // The oldest level first: it is the smallest, so it stays in the processor's caches. Each has two buckets for the
    // key, so a turn is a bucket.
    for (let turn = 0; turn < 2 * this.#levels; turn++) {
      const level = turn >>> 1
      const mask = this.#bucketMasks[level]
      let bucket = hash.low & mask
      if ((turn & 1) === 1) {
        const second = hash.high & mask
        bucket = second === bucket ? second ^ 1 : second
      }
      const from = this.#firstSlots[level] + (bucket << 3)
      for (let slot = from; slot < from + 8; slot++) {
        const at = this.#slotsAt + (slot << 1)
        if (index[at] >>> 20 !== tagged) continue
        // The location must be read after the word's half that is remembered: with a plain load an engine might swap
        // the two, and an older location would pass for the newer word's.
        const ver = Atomics.load(index, at)
        if (ver >>> 20 !== tagged) return ODD
        // Asked for early, so that the processor fetches it beside the record.
        this.#reads = this.#visited[this.#visitedAt + slot]
        const found = this.#isRecord(index[at + 1], hash.high, words, to)
        if (found === FOUND) {
          this.#slot = slot
          this.#ver = ver
          return FOUND
        }
        if (found === ODD) return ODD
        // Another key with this tag, unless it changed meanwhile.
        if (Atomics.load(index, at) !== ver) return ODD
      }
    }
    // A hit is bounded by two atomic loads of its word; a miss by this one and the one of the read before.
    return Atomics.load(index, this.#epochAt) === epoch ? MISS : ODD
  }

  /**
   * Whether the record at a location has this key. One that does not fit its block is odd: the native part reads a
   * value larger than a block, which lies in several.
   */
  #isRecord(location: number, hashHigh: number, key: Int32Array, keyLength: number): number {
    const window = this.#mapping.window(location >>> this.#windowShift)
    if (window === undefined) return MISS
    const start = (location & this.#windowMask) << this.#unitShift
    const { words } = window
    const at = start >> 2
    if (words[at + 3] !== hashHigh) return MISS
    if ((words[at + 1] & 0xff_ffff) !== keyLength) return MISS
    const entryLength = words[at + 2]
    const room = this.#blockMask + 1 - (start & this.#blockMask)
    if (entryLength < 0 || this.#recordHeader + keyLength + entryLength > room) return ODD
    const keyAt = at + (this.#recordHeader >> 2)
    const whole = keyLength >>> 2
    for (let word = 0; word < whole; word++) {
      if (words[keyAt + word] !== key[word]) return MISS
    }
    const rest = (1 << ((keyLength & 3) << 3)) - 1
    if (((words[keyAt + whole] ^ key[whole]) & rest) !== 0) return MISS
    this.#window = window
    this.#start = start
    this.#entryLength = entryLength
    return FOUND
  }

  /** The value, when it is text or bytes; else its payload goes to the scratch buffer. */
  #copy(): unknown {
    const length = this.#entryLength - this.#entryHeader
    if (length < 0 || length > this.#longest) return ASK_NATIVE
    const { words, bytes, view } = this.#window
    const at = this.#start + this.#recordHeader + this.#key.to
    // serializer and compressor · the upper part of created, flags · expires · its upper part, header_len
    const first = view.getInt32(at, true)
    const flags = view.getInt32(at + 12, true)
    const expires = view.getInt32(at + 16, true)
    const rest = view.getInt32(at + 20, true)
    const plain = (first & 0xff00_ffff) === PLAIN_ENTRY && flags >>> 16 === 0
    if (!plain || rest >>> 16 !== this.#entryHeader) return ASK_NATIVE
    const record = this.#start >> 2
    this.#bornLow = words[record + 6]
    this.#bornHigh = words[record + 7]
    this.#expiresLow = expires
    this.#expiresHigh = rest & 0xffff
    this.#createdLow = view.getInt32(at + 8, true)
    this.#createdHigh = flags & 0xffff
    this.#serializer = (first >>> 16) & 0xff
    const from = at + this.#entryHeader
    const to = from + length
    if (length < LONG) {
      const text = this.#textFrom(bytes, from, to)
      if (text !== 0 && isAscii(words, text, to)) return bytes.latin1Slice(text, to)
    }
    if (this.#serializer === BYTES) {
      const value = new Uint8Array(length)
      bytes.copy(value, 0, from, to)
      return value
    }
    this.#scratch.reserve(length)
    bytes.copy(this.#scratch.bytes, 0, from, to)
    this.#length = length
    return COPIED
  }

  /** Where the text begins when the payload is nothing else, or 0. */
  #textFrom(bytes: Uint8Array, from: number, to: number): number {
    if (this.#serializer === TEXT) return from
    if (this.#serializer !== MESSAGEPACK || from === to) return 0
    const marker = bytes[from]
    if (marker >>> 5 === 0b101) return from + 1 + (marker & 0x1f) === to ? from + 1 : 0
    if (marker === 0xd9) return from + 2 + bytes[from + 1] === to ? from + 2 : 0
    if (marker !== 0xda) return 0
    return from + 3 + ((bytes[from + 1] << 8) | bytes[from + 2]) === to ? from + 3 : 0
  }

  /** Whether the word is unchanged: then all that was read belongs together. */
  #stands(): boolean {
    const index = this.#index
    return (
      Atomics.load(index, this.#slotsAt + (this.#slot << 1)) === this.#ver &&
      Atomics.load(index, this.#epochAt) === this.#epoch
    )
  }

  #isValid(clock: number): boolean {
    const now = this.#clock === undefined ? Date.now() : clock
    return (
      join(this.#createdLow, this.#createdHigh) <= now + CLOCK_TOLERANCE &&
      now < join(this.#expiresLow, this.#expiresHigh)
    )
  }

  /** Counts the read, so that recycling keeps what is read. */
  #visit(): void {
    const reads = this.#reads
    if (reads < MOST_READS) this.#visited[this.#visitedAt + this.#slot] = reads + 1
  }

  #decode(): unknown {
    const value = readPayload(this.#serializer, this.#scratch, 0, this.#length, this.#maxValue)
    this.#scratch.trim()
    return value
  }

  /**
   * Looks up the floor and the number of levels at an epoch. The epoch is moved after a floor was raised, and with the
   * number of levels, which is its uppermost byte: while it stands, no other level has words.
   */
  #renew(epoch: number): void {
    const opened = Atomics.load(this.#index, this.#epochAt + 1) >>> 24
    this.#levels = Math.min(1 + opened, this.#bucketMasks.length)
    this.#floor = this.#floorNow()
    this.#knownEpoch = epoch
    this.#isKnown = true
  }
}

function join(low: number, high: number): number {
  return (low >>> 0) + (high >>> 0) * 0x1_0000_0000
}
