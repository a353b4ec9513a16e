// Elysia on Bun, ioredis behind our host tier, which keeps the value for one second for all processes.

import { Elysia } from 'elysia'
import { answer } from '../lib/answer.mjs'
import { reader } from '../lib/ioredis.mjs'
import { cachedForOneSecond } from '../lib/polycache.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const read = cachedForOneSecond(await reader())
const app = new Elysia().get('/', () => answer(read)).listen({ port: 0, hostname: HOST })

ready({
  port: app.server.port,
  reads: READS.SECOND,
  packages: ['elysia', 'ioredis'],
  notes: ['shared by all processes of the machine; decoded for each request'],
})
