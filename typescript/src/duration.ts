import { MAX_TIME } from './entry/validity.ts'
import { InvalidArgument } from './errors.ts'

/**
 * A span of time: text like `'250ms'`, `'30s'`, `'5m'`, `'2h'` or `'1d'`, or `{ ms: 250 }`. A bare number is refused,
 * because some libraries mean seconds by it and others milliseconds.
 */
export type Duration = string | { readonly ms: number }

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The text that was read last: most calls of a program have the same. */
let lastText = '1ms'
let lastMs = 1

/** Milliseconds of a duration, a whole number above 0: a fraction is rounded up. `name` is for the message. */
export function milliseconds(duration: Duration, name: string): number {
  if (duration === lastText) return lastMs
  const ms = Math.ceil(typeof duration === 'string' ? parse(duration) : given(duration))
  if (ms > 0 && ms <= MAX_TIME) {
    if (typeof duration === 'string') {
      lastText = duration
      lastMs = ms
    }
    return ms
  }
  throw new InvalidArgument(
    `${name} is ${describe(duration)}: write text like '250ms', '30s', '5m', '2h', '1d', or { ms: 250 }; more than 0 and at most 2^48 - 1 ms`,
  )
}

function parse(text: string): number {
  const [, number, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? []
  return unit === undefined ? Number.NaN : Number(number) * UNITS[unit]
}

function given(duration: { readonly ms: number }): number {
  const known =
    typeof duration === 'object' && duration !== null && Object.keys(duration).join() === 'ms'
  return known && typeof duration.ms === 'number' ? duration.ms : Number.NaN
}

function describe(duration: unknown): string {
  if (typeof duration === 'number') return `the bare number ${duration}`
  if (typeof duration !== 'object' || duration === null)
    return `${typeof duration} ${String(duration)}`
  // Not as JSON: cycles and big integers have none.
  const fields = Object.entries(duration).map(([name, value]) => `${name}: ${typeof value}`)
  return typeof (duration as { ms?: unknown }).ms === 'number' && fields.length === 1
    ? `{ ms: ${(duration as { ms: number }).ms} }`
    : `an object of { ${fields.join(', ')} }`
}
