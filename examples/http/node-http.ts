/** node:http, on Node: `node node-http.ts`. */
import { createServer } from 'node:http'
import { listening, PORT } from './listening.ts'
import { stream } from './stream.ts'

const server = createServer(stream.node)
server.listen(PORT, '127.0.0.1', () => listening(server.address()))
