/** Bodies that are read to their end, within a limit. */

/** The whole body; or, where it is larger, a response that streams what was read and the rest. */
export async function readBody(
  response: Response,
  limit: number,
): Promise<Uint8Array | { readonly streaming: Response }> {
  if (response.body === null) return new Uint8Array()
  if (Number(response.headers.get('content-length') ?? 0) > limit) return { streaming: response }
  const reader = response.body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks)
    chunks.push(value)
    size += value.length
    if (size > limit) return { streaming: again(response, chunks, reader) }
  }
}

function again(
  response: Response,
  chunks: Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Response {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const first = chunks.shift()
      if (first !== undefined) return controller.enqueue(first)
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return new Response(body, response)
}
