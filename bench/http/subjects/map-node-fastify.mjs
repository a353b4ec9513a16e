// Fastify on Node, ioredis behind a Map that keeps the value for one second.

import Fastify from 'fastify'
import { answer } from '../lib/answer.mjs'
import { reader } from '../lib/ioredis.mjs'
import { keptForOneSecond } from '../lib/map.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const read = keptForOneSecond(await reader())
const app = Fastify()
app.get('/', () => answer(read))
await app.listen({ port: 0, host: HOST })

ready({
  port: app.server.address().port,
  reads: READS.SECOND,
  packages: ['fastify', 'ioredis'],
  notes: ['in this process only'],
})
