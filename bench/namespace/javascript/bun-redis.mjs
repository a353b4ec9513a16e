// Bun's own client without a namespace: the limit for what is built on it.

import { open, operations } from './lib/bun-redis.mjs'
import { nameOf, serve } from './lib/namespace-subject.mjs'

serve({
  name: nameOf(import.meta.url),
  versions: { Bun: Bun.version },
  prefixes: false,
  open,
  operations,
  close: (client) => client.close(),
})
