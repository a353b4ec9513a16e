/** Elysia, on Bun: `bun elysia.ts`. */
import { Elysia } from 'elysia'
import { listening, PORT } from './listening.ts'
import { stream } from './stream.ts'

const app = new Elysia().get('/', stream.elysia).listen({ port: PORT, hostname: '127.0.0.1' })
listening(app.server)
