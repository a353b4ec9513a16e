/** Bun's own server: `bun bun.ts`. */
import { listening, PORT } from './listening.ts'
import { stream } from './stream.ts'

listening(Bun.serve({ port: PORT, hostname: '127.0.0.1', routes: { '/': stream.fetch } }))
