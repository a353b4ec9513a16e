// ts-cache (memory, sync) with useClones: false.

import { NONE, serve } from '../lib/cache.mjs'
import { tsCacheSync } from '../lib/ts-cache.mjs'

serve({ ...tsCacheSync(false), isolation: NONE, ttl: true })
