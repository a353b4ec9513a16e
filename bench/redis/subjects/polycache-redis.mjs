// Our remote tier with a directory: what is read again comes from a copy that is kept coherent.

import { serve } from '../lib/client.mjs'
import { openRemote } from '../lib/remote.mjs'

serve({
  notes: ['JSON', 'reads come from coherent copies'],
  open: (given) => openRemote(given, {}),
})
