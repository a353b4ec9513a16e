// Our memory tier alone, no copies, bounded by entries, without a TTL: it looks at no clock.

import { NONE, serve } from '../lib/cache.mjs'
import { open, polycacheMemory } from '../lib/polycache-memory.mjs'

serve({
  ...polycacheMemory,
  isolation: NONE,
  ttl: false,
  open: open({ isolation: 'none', maxBytes: null, ttl: false }),
})
