// keyv with serialization: false.

import { NONE, serve } from '../lib/cache.mjs'
import { keyv } from '../lib/keyv.mjs'

serve({ ...keyv(false), isolation: NONE })
