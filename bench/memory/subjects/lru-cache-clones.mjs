// lru-cache with the isolation that it does not have of its own.

import { CLONE, serve } from '../lib/cache.mjs'
import { CLONED, cloning } from '../lib/clones.mjs'
import { lruCache } from '../lib/lru-cache.mjs'

serve({
  ...lruCache,
  isolation: CLONE,
  ttl: true,
  notes: [CLONED],
  open: cloning(lruCache.open),
})
