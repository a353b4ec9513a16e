// Ours as a view of Bun's own client.

import { namespaced } from '../../../typescript/dist/redis-namespace.js'
import { open, operations } from './lib/bun-redis.mjs'
import { nameOf, serve } from './lib/namespace-subject.mjs'

serve({
  name: nameOf(import.meta.url),
  prefixes: true,
  open: async ({ port, namespace }) => namespaced(await open({ port }), { namespace }),
  operations,
  close: (client) => client.close(),
})
