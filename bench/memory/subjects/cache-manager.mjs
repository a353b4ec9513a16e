// cache-manager as it comes: its store keeps the objects themselves.

import { NONE, serve } from '../lib/cache.mjs'
import { cacheManager } from '../lib/cache-manager.mjs'

serve({ ...cacheManager(), isolation: NONE })
