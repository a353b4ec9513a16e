// Hono on Bun, node-redis.

import { Hono } from 'hono'
import { answer } from '../lib/answer.mjs'
import { reader } from '../lib/node-redis.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const read = await reader()
const app = new Hono()
app.get('/', async (context) => context.json(await answer(read)))
const server = Bun.serve({ port: 0, hostname: HOST, fetch: app.fetch })

ready({ port: server.port, reads: READS.EACH, packages: ['hono', 'redis'] })
