// bentocache with serialize: false.

import { bentocache } from '../lib/bentocache.mjs'
import { NONE, serve } from '../lib/cache.mjs'

serve({ ...bentocache(false), isolation: NONE })
