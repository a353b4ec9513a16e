// bentocache as it comes: values are JSON.

import { bentocache } from '../lib/bentocache.mjs'
import { CLONE, serve } from '../lib/cache.mjs'

serve({ ...bentocache(true), isolation: CLONE, notes: ['JSON'] })
