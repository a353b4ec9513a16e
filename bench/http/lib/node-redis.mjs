// The stream through node-redis, over one connection that all requests share. Entries are objects,
// { id, message: { field: value } }: 46,799 bytes of JSON.

import { createClient } from 'redis'
import { KEY } from './answer.mjs'

export async function reader() {
  const client = createClient({
    socket: { host: '127.0.0.1', port: Number(process.env.REDIS_PORT) },
  })
  await client.connect()
  return () => client.xRange(KEY, '-', '+')
}
