/** Fields that others set for an answer before it was made, as middlewares for CORS and sessions do. */

/** What a server has of them. */
export interface Before {
  getHeader(name: string): number | string | readonly string[] | undefined
}

/**
 * An answer's fields, name after value, for a server that puts them in the place of those before. Vary says what all of them chose
 * by (RFC 9110 12.5.5), and each cookie is set.
 */
export function withThoseBefore(list: readonly string[], before: Before): string[] {
  const vary = before.getHeader('vary')
  const cookies = before.getHeader('set-cookie')
  if (vary === undefined && cookies === undefined) return list as string[]
  const joined: string[] = []
  let setsCookies = false
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at]
    const isVary = vary !== undefined && name === 'vary'
    joined.push(name, isVary ? joinedVary(vary, list[at + 1]) : list[at + 1])
    setsCookies ||= name === 'set-cookie'
  }
  if (cookies !== undefined && setsCookies)
    for (const cookie of [cookies].flat()) joined.push('set-cookie', String(cookie))
  return joined
}

/** Both values of the field Vary, each name once. */
export function joinedVary(before: number | string | readonly string[], own: string): string {
  const names = new Map<string, string>()
  for (const name of `${before},${own}`.split(',').map((one) => one.trim()))
    if (name !== '' && !names.has(name.toLowerCase())) names.set(name.toLowerCase(), name)
  return names.has('*') ? '*' : [...names.values()].join(', ')
}
