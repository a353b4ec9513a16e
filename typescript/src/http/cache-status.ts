/** Adds the field Cache-Status (RFC 9211) to a handler's own answer. */

const IS_BUN = 'Bun' in globalThis
const FIELD = 'cache-status'
/** What the field was before it was added to the very answer. A handler may give one without a body again and again. */
const given = new WeakMap<Response, string | null>()

/** The answer with the field. What is no answer stays: Bun's server takes none for a request that became a WebSocket. */
export function withCacheStatus(response: Response, status: string): Response {
  // Nobody can make another one of these: 101 and errors.
  if (response === undefined || response.status < 200) return response
  const before = given.get(response)
  // Bun tells a text's type only when it sends the very Response that was made of the text, and whose `body` nobody asked for.
  const isItself = IS_BUN && before === undefined && !response.headers.has('content-type')
  if (isItself) given.set(response, response.headers.get(FIELD))
  const told = isItself ? response : new Response(response.body, response)
  if (before === null) told.headers.delete(FIELD)
  else if (before !== undefined) told.headers.set(FIELD, before)
  told.headers.append(FIELD, `polycache; ${status}`)
  return told
}
