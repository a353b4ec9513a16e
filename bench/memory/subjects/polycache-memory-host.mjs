// Memory and host tier, as a `Cache` with a path has them: copies from memory, as long as no process changed the entry.

import { CLONE, serve } from '../lib/cache.mjs'
import { openTiers, polycacheTiers, sync } from '../lib/polycache-tiers.mjs'

serve({
  ...polycacheTiers,
  isolation: CLONE,
  open: (options) => sync(openTiers(options, {})),
})
