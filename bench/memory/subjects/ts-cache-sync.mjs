// ts-cache (memory, sync) as it comes: it clones.

import { CLONE, serve } from '../lib/cache.mjs'
import { tsCacheSync } from '../lib/ts-cache.mjs'

serve({ ...tsCacheSync(true), isolation: CLONE, ttl: true })
