// lru-cache as on the page: a TTL, no clones.

import { NONE, serve } from '../lib/cache.mjs'
import { lruCache } from '../lib/lru-cache.mjs'

serve({ ...lruCache, isolation: NONE, ttl: true })
