/** Express, on Node: `node express.ts`. */
import express from 'express'
import { listening, PORT } from './listening.ts'
import { stream } from './stream.ts'

const app = express()
app.get('/', stream.node)
const server = app.listen(PORT, '127.0.0.1', () => listening(server.address()))
