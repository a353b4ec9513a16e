// Elysia on Bun, the same bytes from memory.

import { Elysia } from 'elysia'
import { constantBytes, HEADERS } from '../lib/constant.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const bytes = await constantBytes()
const app = new Elysia()
  .get('/', () => new Response(bytes, { headers: HEADERS }))
  .listen({ port: 0, hostname: HOST })

ready({ port: app.server.port, reads: READS.NEVER, packages: ['elysia'] })
