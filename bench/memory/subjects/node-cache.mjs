// node-cache as it comes: it clones.

import { CLONE, serve } from '../lib/cache.mjs'
import { nodeCache } from '../lib/node-cache.mjs'

serve({ ...nodeCache(true), isolation: CLONE, ttl: true })
