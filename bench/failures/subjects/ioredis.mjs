import { Redis } from 'ioredis'
import { serve, version } from './lib/subject.mjs'

let client
await serve({
  versions: await version('ioredis'),
  open: ({ url }) => {
    client = new Redis(url)
    client.on('error', () => {})
  },
  get: (key) => client.get(`io:${key}`),
  set: (key, value) => client.set(`io:${key}`, value),
})
