import { EntryTooLarge, InvalidKey, NoSpace, UnsupportedValue } from '../errors.ts'
import type { Bounds } from './policy.ts'

/** Errors of writes to entries in memory. They are here because compilers inline small functions. */

/** @throws UnsupportedValue, InvalidKey */
export function refuseUndefined(value: unknown): never {
  if (value === undefined) throw new UnsupportedValue('$', 'undefined is what a miss gives')
  throw new InvalidKey('undefined is not a key')
}

/** For an entry that weighs too much. */
export function tooHeavy(weight: number, heaviest: number, { maxBytes }: Bounds): EntryTooLarge {
  const whose = heaviest < maxBytes ? 'an entry' : 'all entries together'
  const message = `the entry weighs ${weight} bytes, and ${whose} may weigh ${heaviest}`
  return new EntryTooLarge(message, weight, heaviest)
}

/** For a cache without eviction. */
export function full({ maxEntries, maxBytes }: Bounds): NoSpace {
  return new NoSpace(
    `the cache is full (${maxEntries} entries, ${maxBytes} bytes) and its policy is none: delete something, or take another policy`,
  )
}
