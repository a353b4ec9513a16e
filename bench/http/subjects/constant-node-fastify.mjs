// Fastify on Node, the same bytes from memory.

import Fastify from 'fastify'
import { constantBytes, HEADERS } from '../lib/constant.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const bytes = await constantBytes()
const app = Fastify()
app.get('/', (_, reply) => reply.headers(HEADERS).send(bytes))
await app.listen({ port: 0, host: HOST })

ready({ port: app.server.address().port, reads: READS.NEVER, packages: ['fastify'] })
