// ioredis without a namespace: the limit for what is built on it.

import { open, operationsOf } from './lib/ioredis.mjs'
import { nameOf, serve } from './lib/namespace-subject.mjs'

serve({
  name: nameOf(import.meta.url),
  packages: ['ioredis'],
  prefixes: false,
  open: ({ port, canned }) => open({ port, canned }),
  operations: operationsOf,
  close: (client) => client.disconnect(),
})
