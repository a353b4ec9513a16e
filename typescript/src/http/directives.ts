/** Reads the field Cache-Control (RFC 9111 5.2). */

/** Directives by name in lower case; those without an argument have `''`. */
export type Directives = ReadonlyMap<string, string>

const DIRECTIVE =
  /[ \t]*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\]|\\.)*)"))?[ \t]*)?(?:,|$)/y

/**
 * The directives of a field. Of a repeated one the first counts. What follows after an error of syntax is not read, but
 * names in it still count: a cache that is in doubt does not store.
 */
export function directivesOf(field: string | null): Directives {
  const found = new Map<string, string>()
  if (field === null) return found
  DIRECTIVE.lastIndex = 0
  while (DIRECTIVE.lastIndex < field.length) {
    const from = DIRECTIVE.lastIndex
    const match = DIRECTIVE.exec(field)
    if (match === null) {
      for (const [word] of field
        .slice(from)
        .toLowerCase()
        .matchAll(/[a-z-]+/g))
        if (!found.has(word)) found.set(word, '')
      break
    }
    const [, name, token, quoted] = match
    if (name === undefined) continue
    const key = name.toLowerCase()
    if (!found.has(key)) found.set(key, token ?? quoted ?? '')
  }
  return found
}

/** The seconds of a directive: undefined where it is absent, 0 where they are no whole number (RFC 9111 4.2.1). */
export function secondsOf(directives: Directives, name: string): number | undefined {
  const text = directives.get(name)
  if (text === undefined) return undefined
  return /^[0-9]+$/.test(text) ? Math.min(Number(text), 2 ** 31) : 0
}
