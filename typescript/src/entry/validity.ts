/** The latest time that an entry has room for, in milliseconds since 1970, and the longest time to live (`spec/entry.md`). */
export const MAX_TIME: number = 2 ** 48 - 1

/** Milliseconds by which an entry with a time to live may have been written in the future. */
export const CLOCK_TOLERANCE = 1000
