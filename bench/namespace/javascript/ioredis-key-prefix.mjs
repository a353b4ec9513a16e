// ioredis with its own keyPrefix, which knows of keys alone: a pattern is the caller's, and replies keep it.

import { open, operationsOf } from './lib/ioredis.mjs'
import { nameOf, serve } from './lib/namespace-subject.mjs'

serve({
  name: nameOf(import.meta.url),
  packages: ['ioredis'],
  notes: ['KEYS: the caller writes the prefix, and gets it back'],
  prefixes: true,
  strips: false,
  open: ({ port, namespace, canned }) => open({ port, canned, keyPrefix: `${namespace}:` }),
  operations: (client, data) => {
    const pattern = `${client.options.keyPrefix}${data.pattern}`
    return operationsOf(client, { ...data, pattern })
  },
  close: (client) => client.disconnect(),
})
