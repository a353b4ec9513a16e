/** How a worker reaches servers; see ../src/reached.rs. */

import { createRequire } from 'node:module'
import type { CacheOptions } from '../../typescript/src/index.ts'

const require = createRequire(new URL('../../typescript/package.json', import.meta.url))

/** The server, the primary or the Cluster of this name. Nothing is connected: a cache takes the settings over. */
export function reached(name: string): NonNullable<CacheOptions['remote']> {
  const [kind, list = ''] = name.split(':', 2)
  const nodes = list.split(',').map((port) => ({ host: '127.0.0.1', port: Number(port) }))
  const { Cluster, Redis } = require('ioredis')
  if (kind === 'cluster') return new Cluster(nodes, { lazyConnect: true })
  if (kind === 'sentinel') return new Redis({ sentinels: nodes, name: 'main', lazyConnect: true })
  return name
}
