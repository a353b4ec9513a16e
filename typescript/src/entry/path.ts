import { UnsupportedValue } from '../errors.ts'

/** The way from a value to a part of it: map keys, and places in lists and sets. */
export type Segment = string | number

/** The path of `spec/entry.md`: `$.user.tags[3]`, `$["two words"]`. */
export function formatPath(segments: readonly Segment[]): string {
  let path = '$'
  for (const segment of segments) {
    if (typeof segment === 'number') path += `[${segment}]`
    else if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(segment)) path += `.${segment}`
    else path += `[${JSON.stringify(segment)}]`
  }
  return path
}

/** The error for the part of a value that is where `segments` lead to. */
export function refused(segments: readonly Segment[], reason: string): UnsupportedValue {
  return new UnsupportedValue(formatPath(segments), reason)
}
