// Elysia on Bun, our cached reads over ioredis, the value alone.

import { Elysia } from 'elysia'
import { reader } from '../lib/reads.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const read = await reader('ioredis')
const app = new Elysia()
  .get('/', async ({ request }) => (await read()).respond(request))
  .listen({ port: 0, hostname: HOST })

ready({
  port: app.server.port,
  reads: READS.CHANGE,
  packages: ['elysia', 'ioredis'],
  notes: ['cached reads: encoded once for each change; at most one second behind'],
})
