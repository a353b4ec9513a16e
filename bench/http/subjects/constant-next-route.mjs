// Next, a route that sends the same bytes from memory.

import { READS, ready } from '../lib/ready.mjs'
import { start } from '../next/start.mjs'

const path = '/routes/constant'

ready({ ...(await start()), path, reads: READS.NEVER })
