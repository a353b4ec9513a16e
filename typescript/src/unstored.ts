import { PolycacheError } from './errors.ts'

/** What happens to a loaded value that cannot be stored: it is handed over and reported, or the error is thrown. */
export type StoreErrors = 'report' | 'raise'

/** What a handle says of values that it could not store. */
export interface Reporting {
  readonly storeErrors: StoreErrors
  /** The codes that were reported. */
  readonly reported: Set<string>
  readonly counts: { unstored: number }
}

const CODES: ReadonlySet<string> = new Set([
  'unsupported_value',
  'entry_too_large',
  'value_too_large',
  'no_space',
  'io',
  'remote_unavailable',
])

/**
 * Counts a loaded value that could not be stored, and reports the first of each code.
 * @throws the error, if asked for, and if it is not about storing the value
 */
export function handOver(handle: Reporting, error: unknown): void {
  const isOfTheValue = error instanceof PolycacheError && CODES.has(error.code)
  if (!isOfTheValue || handle.storeErrors === 'raise') throw error
  const { code, message } = error
  handle.counts.unstored++
  if (handle.reported.has(code)) return
  handle.reported.add(code)
  warn(`a loaded value is not stored: ${message}`, code)
}

/** By the process; in browsers, which have none, by the console. */
export function warn(text: string, code: string): void {
  const process = globalThis.process as NodeJS.Process | undefined
  if (process?.emitWarning) process.emitWarning(text, 'PolycacheWarning', code)
  else console.warn(text)
}
