// cache-manager with a Keyv of the version that it was made with: values are JSON.

import { Keyv } from 'keyv-5'
import { cacheManager } from '../lib/cache-manager.mjs'
import { CLONE, serve } from '../lib/cache.mjs'

serve({ ...cacheManager(() => [new Keyv()]), isolation: CLONE, notes: ['JSON'] })
