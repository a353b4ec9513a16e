// Fastify on Node, ioredis.

import Fastify from 'fastify'
import { answer } from '../lib/answer.mjs'
import { reader } from '../lib/ioredis.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const read = await reader()
const app = Fastify()
app.get('/', () => answer(read))
await app.listen({ port: 0, host: HOST })

ready({ port: app.server.address().port, reads: READS.EACH, packages: ['fastify', 'ioredis'] })
