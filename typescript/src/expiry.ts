import type { Duration } from './duration.ts'
import { MAX_TIME } from './entry/validity.ts'
import { InvalidArgument } from './errors.ts'
import { ttlOrOwn } from './memory/options.ts'

/**
 * How long an entry is to live, as options say, in the form that everything below them takes: milliseconds, 0 for ever;
 * below 0 the time at which it expires, in milliseconds since 1970, negated. Undefined when they do not say.
 * @throws InvalidArgument
 */
export function given(options: {
  readonly ttl?: Duration | null
  readonly expiresAt?: Date
}): number | undefined {
  const { ttl, expiresAt } = options
  if (expiresAt === undefined) return ttl === undefined ? undefined : ttlOrOwn(ttl, 0)
  if (ttl !== undefined) throw new InvalidArgument('ttl and expiresAt exclude each other: give one')
  return -Math.min(Math.max(timeOf(expiresAt), 1), MAX_TIME)
}

function timeOf(date: Date): number {
  let ms = Number.NaN
  try {
    // Not instanceof: in tests with a context of their own (Jest), dates are of another class.
    ms = Date.prototype.getTime.call(date)
  } catch {
    // It is no date.
  }
  if (!Number.isNaN(ms)) return ms
  throw new InvalidArgument('expiresAt is a valid Date: the time at which the entry expires')
}
