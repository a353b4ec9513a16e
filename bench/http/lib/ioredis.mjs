// The stream through ioredis, over one connection that all requests share. Entries are lists,
// [id, [field, value, ...]] as Redis sends them: 41,714 bytes of JSON.

import { Redis } from 'ioredis'
import { KEY } from './answer.mjs'

export async function reader() {
  const client = new Redis(Number(process.env.REDIS_PORT), '127.0.0.1', { lazyConnect: true })
  await client.connect()
  return () => client.xrange(KEY, '-', '+')
}
