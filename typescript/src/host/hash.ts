/** A hash's two words, as signed 32-bit integers. */
export interface KeyHash {
  low: number
  high: number
}

/**
 * HalfSipHash-1-3 with 64-bit output (`spec/keys.md`) of the first `length` bytes of `words`, which are little-endian.
 * The word that holds the last bytes is 0 behind them.
 */
export function keyHash(
  seedLow: number,
  seedHigh: number,
  words: Int32Array,
  length: number,
  out: KeyHash,
): void {
  let v0 = seedLow | 0
  let v1 = seedHigh ^ 0xee
  let v2 = 0x6c796765 ^ seedLow
  let v3 = 0x74656462 ^ seedHigh
  const whole = length >>> 2
  // Written out: a function for the round would have to return four numbers.
  for (let at = 0; at <= whole; at++) {
    const word =
      at < whole ? words[at] : (words[at] & ((1 << ((length & 3) << 3)) - 1)) | (length << 24)
    v3 ^= word
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
    v0 ^= word
  }
  v2 ^= 0xee
  for (let round = 0; round < 6; round++) {
    if (round === 3) {
      out.low = v1 ^ v3
      v1 ^= 0xdd
    }
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
  }
  out.high = v1 ^ v3
}
