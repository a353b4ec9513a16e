// The page's memory-lru with useClones: false. From a checkout, and on Bun only (run.py).

import { NONE, serve } from '../lib/cache.mjs'
import { memoryLru } from '../lib/ts-cache.mjs'

serve({ ...memoryLru(false), isolation: NONE })
