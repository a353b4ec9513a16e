/** Adds the field Cache-Status (RFC 9211) to a handler's own answer. */

const IS_BUN = 'Bun' in globalThis

/** The answer with the field. What is no answer stays: Bun's server takes none for a request that became a WebSocket. */
export function withCacheStatus(response: Response, status: string): Response {
  // Nobody can make another one of these: 101 and errors.
  if (response === undefined || response.status < 200) return response
  // Bun tells a text's type only when it sends the very Response that was made of the text, and whose `body` nobody asked for.
  const isItself = IS_BUN && !response.headers.has('content-type')
  const told = isItself ? response : new Response(response.body, response)
  told.headers.append('cache-status', `polycache; ${status}`)
  return told
}
