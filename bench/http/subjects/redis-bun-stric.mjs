// Stric on Bun, node-redis.

import { Router } from '@stricjs/router'
import { answer } from '../lib/answer.mjs'
import { reader } from '../lib/node-redis.mjs'
import { HOST, READS, ready } from '../lib/ready.mjs'

const read = await reader()
const app = new Router({ port: 0, hostname: HOST })
app.get('/', async () => Response.json(await answer(read)))
app.listen()

ready({
  port: app.details.server.port,
  reads: READS.EACH,
  packages: ['@stricjs/router', 'redis'],
  notes: ['version 1.0.6 of the page is not available: this is the last one; it is unmaintained'],
})
