/** Ranges of a Redis stream's ids, from a request's query. */
import { checkNames } from '../option-names.ts'
import { HttpProblem } from './problem.ts'

/** Which entries of a stream are asked for, as XRANGE takes them. */
export interface StreamRange {
  /** `-`, an id, or an id after `(` that is itself left out. */
  readonly start: string
  /** `+`, an id, or an id after `(` that is itself left out. */
  readonly end: string
  /** Most entries. */
  readonly count: number
}

/** Options of `streamRange`. */
export interface StreamRangeOptions {
  /** Most entries of an answer; also where the query names no count. Default: 10000. */
  readonly maxCount?: number
}

const OPTIONS: ReadonlySet<string> = new Set<keyof StreamRangeOptions>(['maxCount'])
const ID = /^(\(?)([0-9]{1,20})(?:-([0-9]{1,20}))?$/
const LARGEST = 2n ** 64n - 1n

/**
 * Reads `start`, `end` and `count`. Ids are Redis' own: `1700000000010-0`, `1700000000010` for all of a millisecond, and
 * `(1700000000010-0` for what comes after; `-` and `+` are the ends, and `end=+` may stay as it is though a plus in a query
 * means a space. Other parameters are left to you.
 *
 * @throws HttpProblem with status 400 and the member `parameter` for what is given twice, is no id, or is no count
 *   from 1 to `maxCount`; InvalidArgument
 */
export function streamRange(query: URLSearchParams, options: StreamRangeOptions = {}): StreamRange {
  checkNames(options, OPTIONS)
  const { maxCount = 10_000 } = options
  return {
    start: idOf(query, 'start', '-'),
    end: idOf(query, 'end', '+'),
    count: countOf(query, maxCount),
  }
}

function only(query: URLSearchParams, name: string): string | undefined {
  const given = query.getAll(name)
  if (given.length > 1) throw refused(name, 'is given more than once')
  return given[0]
}

function idOf(query: URLSearchParams, name: 'start' | 'end', without: '-' | '+'): string {
  const given = only(query, name)
  if (given === undefined) return without
  if (given === '-' || given === '+') return given
  if (given === ' ') return '+'
  const [, left, ms, sequence] = ID.exec(given) ?? []
  if (ms === undefined || BigInt(ms) > LARGEST || BigInt(sequence ?? 0) > LARGEST)
    throw refused(name, 'is no id: write 1700000000010-0, (1700000000010-0, - or +')
  if (left === '(' && isLast(name, BigInt(ms), sequence))
    throw refused(name, 'leaves out the last id that there is, so nothing is left')
  return given
}

/** Redis refuses to go beyond these. */
function isLast(name: 'start' | 'end', ms: bigint, sequence: string | undefined): boolean {
  if (name === 'end') return ms === 0n && BigInt(sequence ?? 0) === 0n
  return ms === LARGEST && (sequence === undefined || BigInt(sequence) === LARGEST)
}

function countOf(query: URLSearchParams, maxCount: number): number {
  const given = only(query, 'count')
  if (given === undefined) return maxCount
  const count = /^[0-9]{1,15}$/.test(given) ? Number(given) : 0
  if (count < 1 || count > maxCount)
    throw refused('count', `is no whole number from 1 to ${maxCount}`)
  return count
}

function refused(parameter: string, why: string): HttpProblem {
  return new HttpProblem(400, `The parameter ${parameter} ${why}.`, { parameter })
}
