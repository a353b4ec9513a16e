// quick-lru without a TTL, as it comes.

import { NONE, serve } from '../lib/cache.mjs'
import { quickLru } from '../lib/quick-lru.mjs'

serve({
  ...quickLru,
  isolation: NONE,
  ttl: false,
  open: ({ capacity }) => quickLru.open({ capacity }),
})
