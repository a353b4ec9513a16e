// A Map with expiry, as people write it by hand.

import { NONE, serve } from '../lib/cache.mjs'
import { openExpiring } from '../lib/map.mjs'

serve({ packages: [], isolation: NONE, ttl: true, bounded: false, open: openExpiring })
