// cache-manager with a Keyv of the version that it was made with: values are JSON.

import { Keyv } from 'keyv-5'
import { CLONE, serve } from '../lib/cache.mjs'
import { cacheManager } from '../lib/cache-manager.mjs'

serve({ ...cacheManager(() => [new Keyv()]), isolation: CLONE, notes: ['JSON'] })
