// A bare Map with isolation: the limit of everything that isolates by structuredClone.

import { CLONE, serve } from '../lib/cache.mjs'
import { CLONED, cloning } from '../lib/clones.mjs'
import { open } from '../lib/map.mjs'

serve({
  packages: [],
  isolation: CLONE,
  ttl: false,
  bounded: false,
  notes: [CLONED],
  open: cloning(open),
})
