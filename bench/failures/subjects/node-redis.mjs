import { createClient } from 'redis'
import { serve, version } from './lib/subject.mjs'

let client
await serve({
  versions: await version('redis'),
  open: ({ url }) => {
    client = createClient({ url })
    client.on('error', () => {})
    // It goes on trying; commands wait for it.
    client.connect().catch(() => {})
  },
  get: (key) => client.get(`nr:${key}`),
  set: (key, value) => client.set(`nr:${key}`, value),
})
