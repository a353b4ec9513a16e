// A connection that knows of no namespace, to look at the server with.

import { Redis } from 'ioredis'

export async function connect(port) {
  const redis = new Redis({ port })
  const call = (...words) => redis.call(...words)
  call.close = () => redis.disconnect()
  return call
}
