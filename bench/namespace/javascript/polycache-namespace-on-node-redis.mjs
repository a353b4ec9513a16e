// Ours as a view of node-redis.

import { namespaced } from '../../../typescript/dist/redis-namespace.js'
import { nameOf, serve } from './lib/namespace-subject.mjs'
import { open, operations } from './lib/node-redis.mjs'

serve({
  name: nameOf(import.meta.url),
  prefixes: true,
  open: async ({ port, namespace }) => namespaced(await open({ port }), { namespace }),
  operations,
  close: (client) => client.close(),
})
