import type { Word } from '../redis-namespace/word.ts'
import type { Plan } from './plan.ts'

/** What is to be asked in front of a read, to know when its reply ends by itself. */
export function questions({ keys, showsFields }: Plan): Word[][] {
  const times = keys.map((key): Word[] => ['PTTL', key])
  // How many hashes have fields that expire (Redis 7.4, Valkey 9).
  return showsFields ? [...times, ['INFO', 'keyspace']] : times
}

/**
 * When the reply expires, by the answers to these: milliseconds since 1970, 0 for never; undefined where that is not known.
 * Times to live count from before they were asked for.
 */
export function expiryOf(
  { keys, showsFields }: Plan,
  answers: readonly PromiseSettledResult<unknown>[],
  sentAt: number,
): number | undefined {
  let first = Number.POSITIVE_INFINITY
  for (const [at, answer] of answers.entries()) {
    if (answer.status === 'rejected') return undefined
    if (at < keys.length) {
      const left = Number(answer.value)
      if (left >= 0) first = Math.min(first, sentAt + left)
    } else if (
      showsFields &&
      /(subexpiry|keys_with_volatile_items)=[1-9]/.test(String(answer.value))
    ) {
      return undefined
    }
  }
  return first === Number.POSITIVE_INFINITY ? 0 : first
}

/** Whether it is known. */
export function isBounded(expires: number | undefined): expires is number {
  return expires !== undefined
}
