// Hono on Bun, the same bytes from memory.

import { Hono } from 'hono'
import { constantBytes, HEADERS } from '../lib/constant.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const bytes = await constantBytes()
const app = new Hono()
app.get('/', (context) => context.body(bytes, 200, HEADERS))
const server = Bun.serve({ port: 0, hostname: HOST, fetch: app.fetch })

ready({ port: server.port, reads: READS.NEVER, packages: ['hono'] })
