// What the page calls ts-cache (memory-lru, async). From a checkout, and on Bun only (run.py).

import { CLONE, serve } from '../lib/cache.mjs'
import { memoryLru } from '../lib/ts-cache.mjs'

serve({ ...memoryLru(true), isolation: CLONE })
