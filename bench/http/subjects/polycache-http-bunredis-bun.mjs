// Bun's own server, our cached reads over its own Redis client.

import { answer, reader } from '../lib/reads.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const read = await reader('bunredis')
const server = Bun.serve({
  port: 0,
  hostname: HOST,
  routes: { '/': async (request) => (await answer(read)).respond(request) },
})

ready({
  port: server.port,
  reads: READS.CHANGE,
  packages: [],
  notes: ['cached reads: encoded once for each change; at most one second behind'],
})
