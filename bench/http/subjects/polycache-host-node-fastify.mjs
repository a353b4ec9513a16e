// Fastify on Node, ioredis behind our host tier, which keeps the value for one second for all processes.

import Fastify from 'fastify'
import { answer } from '../lib/answer.mjs'
import { reader } from '../lib/ioredis.mjs'
import { cachedForOneSecond } from '../lib/polycache.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const read = cachedForOneSecond(await reader())
const app = Fastify()
app.get('/', () => answer(read))
await app.listen({ port: 0, host: HOST })

ready({
  port: app.server.address().port,
  reads: READS.SECOND,
  packages: ['fastify', 'ioredis'],
  notes: ['shared by all processes of the machine; decoded for each request'],
})
