// Our host tier alone, called synchronously. It is not a memory cache: every process of the machine sees it.

import { CLONE, serve } from '../lib/cache.mjs'
import { openTiers, polycacheTiers, sync } from '../lib/polycache-tiers.mjs'

serve({
  ...polycacheTiers,
  isolation: CLONE,
  open: (options) => sync(openTiers(options, false)),
})
