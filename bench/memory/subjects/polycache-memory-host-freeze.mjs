// Memory and host tier, handing the same frozen object to all: what a coherent hit costs without a copy.

import { FROZEN, serve } from '../lib/cache.mjs'
import { openTiers, polycacheTiers, sync } from '../lib/polycache-tiers.mjs'

serve({
  ...polycacheTiers,
  isolation: FROZEN,
  open: (options) => sync(openTiers(options, { isolation: 'freeze' })),
})
