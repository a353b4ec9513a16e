/** The most lists, sets, maps and registered types around a value, itself included. */
export const MAX_DEPTH = 128

/** The years 1 to 9999, in seconds since 1970: the moments that every language has. */
export const MIN_SECONDS = -62_135_596_800
export const MAX_SECONDS = 253_402_300_799

/** The extension types of `spec/entry.md`. */
export const TIMESTAMP = -1
export const SET = 1
export const BIG_INTEGER = 2
export const DECIMAL = 3
export const UUID = 4
export const NAMED = 5

/** Integers that MessagePack has a form for; others are big integers. */
export const MIN_INTEGER: bigint = -(2n ** 63n)
export const MAX_INTEGER: bigint = 2n ** 64n - 1n
