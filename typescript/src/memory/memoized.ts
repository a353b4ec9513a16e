import type { Duration } from '../duration.ts'
import { type MemoizeOptions, placeOf } from '../memoize.ts'
import { checkTimes } from './options.ts'

/** Where a memoized function's results are, and how they are written. */
export function memoized<A extends unknown[], K>(
  work: (...args: A) => unknown,
  options: MemoizeOptions<A, K>,
): { keyOf: (args: A) => K; load: { ttl: Duration | null } | undefined } {
  const { name, keyOf } = placeOf(work, options)
  const { ttl } = options
  if (ttl !== undefined) checkTimes({ ttl })
  const load = ttl === undefined ? undefined : { ttl }
  if (name === undefined) return { keyOf: keyOf as (args: A) => K, load }
  // A text behind which a list begins: no two names and lists make the same.
  const prefix = JSON.stringify(name)
  return { keyOf: (args) => (prefix + keyOf(args)) as K, load }
}
