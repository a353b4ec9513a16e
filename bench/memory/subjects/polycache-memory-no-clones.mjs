// Our memory tier alone as lru-cache is on the page: no copies, bounded by entries, a TTL.

import { NONE, serve } from '../lib/cache.mjs'
import { open, polycacheMemory } from '../lib/polycache-memory.mjs'

serve({
  ...polycacheMemory,
  isolation: NONE,
  ttl: true,
  open: open({ isolation: 'none', maxBytes: null }),
})
