// lru-cache without a TTL: it looks at no clock.

import { NONE, serve } from '../lib/cache.mjs'
import { lruCache } from '../lib/lru-cache.mjs'

serve({
  ...lruCache,
  isolation: NONE,
  ttl: false,
  open: ({ capacity }) => lruCache.open({ capacity }),
})
