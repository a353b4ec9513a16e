// Elysia on Bun, ioredis behind a Map that keeps the value for one second.

import { Elysia } from 'elysia'
import { answer } from '../lib/answer.mjs'
import { reader } from '../lib/ioredis.mjs'
import { keptForOneSecond } from '../lib/map.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const read = keptForOneSecond(await reader())
const app = new Elysia().get('/', () => answer(read)).listen({ port: 0, hostname: HOST })

ready({
  port: app.server.port,
  reads: READS.SECOND,
  packages: ['elysia', 'ioredis'],
  notes: ['in this process only'],
})
