// Our memory tier alone with the policy that lru-cache has; no copies, bounded by entries, no TTL.

import { NONE, serve } from '../lib/cache.mjs'
import { open, polycacheMemory } from '../lib/polycache-memory.mjs'

serve({
  ...polycacheMemory,
  isolation: NONE,
  ttl: false,
  notes: ['LRU'],
  open: open({ isolation: 'none', maxBytes: null, policy: 'lru', ttl: false }),
})
