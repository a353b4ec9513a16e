/** Fastify, on Node: `node fastify.ts`. */
import fastify from 'fastify'
import { listening, PORT } from './listening.ts'
import { stream } from './stream.ts'

const app = fastify()
app.get('/', stream.fastify)
await app.listen({ port: PORT, host: '127.0.0.1' })
listening(app.server.address())
