// node-cache with useClones: false.

import { NONE, serve } from '../lib/cache.mjs'
import { nodeCache } from '../lib/node-cache.mjs'

serve({ ...nodeCache(false), isolation: NONE, ttl: true })
