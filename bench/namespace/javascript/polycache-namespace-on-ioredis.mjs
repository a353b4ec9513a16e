// Ours as a view of ioredis.

import { namespaced } from '../../../typescript/dist/redis-namespace.js'
import { open, operationsOf } from './lib/ioredis.mjs'
import { nameOf, serve } from './lib/namespace-subject.mjs'

serve({
  name: nameOf(import.meta.url),
  prefixes: true,
  open: ({ port, namespace, canned }) => namespaced(open({ port, canned }), { namespace }),
  operations: operationsOf,
  close: (client) => client.disconnect(),
})
