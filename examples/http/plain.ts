/** The same with nothing of ours, to compare with: each request reads Redis and encodes what it got. */
import { createServer } from 'node:http'
import { Redis } from 'ioredis'
import { listening, PORT } from './listening.ts'

const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379')

const server = createServer(async (_, response) => {
  const start = Date.now()
  const value = await redis.xrange('OPTIONS:test:STREAM', '-', '+')
  const end = Date.now()
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ value, start, end, endDate: new Date(end) }))
})
server.listen(PORT, '127.0.0.1', () => listening(server.address()))
