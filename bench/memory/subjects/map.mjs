// A bare Map: the limit, and not a cache.

import { NONE, serve } from '../lib/cache.mjs'
import { open } from '../lib/map.mjs'

serve({ packages: [], isolation: NONE, ttl: false, bounded: false, notes: ['the limit'], open })
