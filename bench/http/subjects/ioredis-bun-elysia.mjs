// Elysia on Bun, ioredis.

import { Elysia } from 'elysia'
import { answer } from '../lib/answer.mjs'
import { reader } from '../lib/ioredis.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const read = await reader()
const app = new Elysia().get('/', () => answer(read)).listen({ port: 0, hostname: HOST })

ready({ port: app.server.port, reads: READS.EACH, packages: ['elysia', 'ioredis'] })
