// Fastify on Node, our cached reads over ioredis, the value alone.

import Fastify from 'fastify'
import { endpoint } from 'polycache/http'
import { reader } from '../lib/reads.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const read = await reader('ioredis')
const app = Fastify()
app.get('/', endpoint(read).fastifyRaw)
await app.listen({ port: 0, host: HOST })

ready({
  port: app.server.address().port,
  reads: READS.CHANGE,
  packages: ['fastify', 'ioredis'],
  notes: [
    'cached reads: encoded once for each change; at most one second behind',
    'without onSend hooks, as reply.hijack()',
  ],
})
