// Our remote tier without copies: each read asks the server, as each read of a client does.

import { serve } from '../lib/client.mjs'
import { openRemote } from '../lib/remote.mjs'

serve({
  notes: ['JSON', 'maxStaleness 0: each read asks the server'],
  open: (given) => openRemote(given, { maxStaleness: 0 }),
})
