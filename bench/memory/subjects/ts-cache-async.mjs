// ts-cache (memory, async) as it comes: it clones. From a checkout, and on Bun only (run.py).

import { CLONE, serve } from '../lib/cache.mjs'
import { memory } from '../lib/ts-cache.mjs'

serve({ ...memory(true), isolation: CLONE })
