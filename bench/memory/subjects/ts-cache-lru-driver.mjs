// ts-cache's MemoryLRUDriver. From a checkout, and on Bun only (run.py).

import { CLONE, serve } from '../lib/cache.mjs'
import { lruDriver } from '../lib/ts-cache.mjs'

serve({ ...lruDriver(true), isolation: CLONE })
