// Bun's own server and its own Redis client.

import { answer } from '../lib/answer.mjs'
import { reader } from '../lib/bun-redis.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const read = await reader()
const server = Bun.serve({
  port: 0,
  hostname: HOST,
  routes: { '/': async () => Response.json(await answer(read)) },
})

ready({ port: server.port, reads: READS.EACH, packages: [] })
