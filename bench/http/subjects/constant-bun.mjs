// Bun's own server, the same bytes from memory.

import { constantBytes, HEADERS } from '../lib/constant.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const bytes = await constantBytes()
const server = Bun.serve({
  port: 0,
  hostname: HOST,
  routes: { '/': () => new Response(bytes, { headers: HEADERS }) },
})

ready({ port: server.port, reads: READS.NEVER, packages: [] })
