// Bun's own server, our cached reads over node-redis.

import { answer, reader } from '../lib/reads.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const read = await reader('redis')
const server = Bun.serve({
  port: 0,
  hostname: HOST,
  routes: { '/': async (request) => (await answer(read)).respond(request) },
})

ready({
  port: server.port,
  reads: READS.CHANGE,
  packages: ['redis'],
  notes: ['cached reads: encoded once for each change; at most one second behind'],
})
