// quick-lru with a TTL.

import { NONE, serve } from '../lib/cache.mjs'
import { quickLru } from '../lib/quick-lru.mjs'

serve({ ...quickLru, isolation: NONE, ttl: true })
