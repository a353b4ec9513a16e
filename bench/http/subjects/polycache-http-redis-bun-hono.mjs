// Hono on Bun, our cached reads over node-redis.

import { Hono } from 'hono'
import { answer, reader } from '../lib/reads.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const read = await reader('redis')
const app = new Hono()
app.get('/', async ({ req }) => (await answer(read)).respond(req.raw))
const server = Bun.serve({ port: 0, hostname: HOST, fetch: app.fetch })

ready({
  port: server.port,
  reads: READS.CHANGE,
  packages: ['hono', 'redis'],
  notes: ['cached reads: encoded once for each change; at most one second behind'],
})
