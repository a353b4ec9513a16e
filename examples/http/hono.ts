/** Hono, on Bun: `bun hono.ts`. */
import { Hono } from 'hono'
import { listening, PORT } from './listening.ts'
import { stream } from './stream.ts'

const app = new Hono()
app.get('/', stream.hono)
listening(Bun.serve({ port: PORT, hostname: '127.0.0.1', fetch: app.fetch }))
