// node-redis without a namespace: the limit for what is built on it.

import { nameOf, serve } from './lib/namespace-subject.mjs'
import { open, operations } from './lib/node-redis.mjs'

serve({
  name: nameOf(import.meta.url),
  packages: ['redis'],
  prefixes: false,
  open,
  operations,
  close: (client) => client.close(),
})
