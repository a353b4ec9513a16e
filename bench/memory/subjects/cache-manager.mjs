// cache-manager as it comes: its store keeps the objects themselves.

import { cacheManager } from '../lib/cache-manager.mjs'
import { NONE, serve } from '../lib/cache.mjs'

serve({ ...cacheManager(), isolation: NONE })
