// Our memory tier alone, no copies, bounded by entries and by bytes, a TTL: what weighing each value costs.

import { NONE, serve } from '../lib/cache.mjs'
import { open, polycacheMemory } from '../lib/polycache-memory.mjs'

serve({
  ...polycacheMemory,
  isolation: NONE,
  ttl: true,
  notes: ['weighs values'],
  open: open({ isolation: 'none' }),
})
