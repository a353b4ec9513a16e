// Bun's own server, our cached reads over ioredis, the value alone.

import { reader } from '../lib/reads.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const read = await reader('ioredis')
const server = Bun.serve({
  port: 0,
  hostname: HOST,
  routes: { '/': async (request) => (await read()).respond(request) },
})

ready({
  port: server.port,
  reads: READS.CHANGE,
  packages: ['ioredis'],
  notes: ['cached reads: encoded once for each change; at most one second behind'],
})
