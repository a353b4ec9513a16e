// The stream through Bun's own client, over one connection that all requests share. Entries are lists,
// [id, [field, value, ...]] as Redis sends them: 41,714 bytes of JSON.

import { KEY } from './answer.mjs'

export async function reader() {
  const client = new Bun.RedisClient(`redis://127.0.0.1:${process.env.REDIS_PORT}`)
  await client.connect()
  return () => client.xrange(KEY, '-', '+')
}
