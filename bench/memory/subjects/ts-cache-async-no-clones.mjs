// ts-cache (memory, async) with useClones: false. From a checkout, and on Bun only (run.py).

import { NONE, serve } from '../lib/cache.mjs'
import { memory } from '../lib/ts-cache.mjs'

serve({ ...memory(false), isolation: NONE })
