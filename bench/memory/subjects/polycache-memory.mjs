// Our memory tier alone, by its defaults: copies, weighed.

import { CLONE, serve } from '../lib/cache.mjs'
import { open, polycacheMemory } from '../lib/polycache-memory.mjs'

serve({ ...polycacheMemory, isolation: CLONE, ttl: true, open: open({}) })
