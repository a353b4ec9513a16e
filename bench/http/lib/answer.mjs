// What every server answers: the stream's entries, and when reading them began and ended.

export const KEY = 'OPTIONS:test:STREAM'

/** `read` returns the entries, in the shape that its Redis client gives them. Times are in ms since 1970. */
export async function answer(read) {
  const start = Date.now()
  const value = await read()
  const end = Date.now()
  return { value, start, end, endDate: new Date(end) }
}
