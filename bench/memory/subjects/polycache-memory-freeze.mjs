// Our memory tier alone, handing the same frozen copy to all.

import { FROZEN, serve } from '../lib/cache.mjs'
import { open, polycacheMemory } from '../lib/polycache-memory.mjs'

serve({ ...polycacheMemory, isolation: FROZEN, ttl: true, open: open({ isolation: 'freeze' }) })
