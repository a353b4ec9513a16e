import { EntryTooLarge, InvalidKey, NoSpace, UnsupportedValue } from '../errors.ts'
import type { Bounds } from './policy.ts'

/** What a write to entries in memory is refused with. Here, for compilers take small functions into their callers. */

/** @throws UnsupportedValue, InvalidKey */
export function refuseUndefined(value: unknown): never {
  if (value === undefined) throw new UnsupportedValue('$', 'undefined is what a miss gives')
  throw new InvalidKey('undefined is no key')
}

/** For an entry that weighs more than one may. */
export function tooHeavy(weight: number, heaviest: number, { maxBytes }: Bounds): EntryTooLarge {
  const whose = heaviest < maxBytes ? 'an entry' : 'all entries together'
  const message = `the entry weighs ${weight} bytes, and ${whose} may weigh ${heaviest}`
  return new EntryTooLarge(message, weight, heaviest)
}

/** For a cache that evicts nothing. */
export function full({ maxEntries, maxBytes }: Bounds): NoSpace {
  return new NoSpace(
    `the cache is full (${maxEntries} entries, ${maxBytes} bytes) and its policy is none: delete something, or take another policy`,
  )
}
