// keyv as it comes: values are JSON.

import { CLONE, serve } from '../lib/cache.mjs'
import { keyv } from '../lib/keyv.mjs'

serve({ ...keyv(undefined), isolation: CLONE, notes: ['JSON'] })
