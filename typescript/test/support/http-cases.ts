/** What the cases of `spec/http/` expect of header fields. */
import { expect } from 'vitest'

/** By name: the text, null for a field that is absent, or a text that it is not. */
export type ExpectedFields = Readonly<Record<string, string | null | { readonly not: string }>>

export function checkFields(
  headers: Headers,
  expected: ExpectedFields = {},
  fill: (text: string) => string = (text) => text,
): void {
  for (const [name, value] of Object.entries(expected)) {
    const found = [name, headers.get(name)]
    if (value === null || typeof value === 'string')
      expect(found).toEqual([name, value === null ? null : fill(value)])
    else expect(found).not.toEqual([name, fill(value.not)])
  }
}

/** Options of a case in TypeScript's spelling: `max_age` is `maxAge`. */
export function camel<T extends object>(options: object = {}): T {
  const spelt = (given: object): object =>
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
        typeof value === 'object' && !Array.isArray(value) ? spelt(value) : value,
      ]),
    )
  return spelt(options) as T
}
