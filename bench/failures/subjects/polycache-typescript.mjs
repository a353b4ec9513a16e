import { Cache } from '../../../typescript/dist/index.js'
import { serve } from './lib/subject.mjs'

let cache
await serve({
  open: ({ url, directory }) => {
    cache = new Cache({ path: directory, remote: url })
  },
  get: (key) => cache.get(key),
  set: (key, value) => cache.set(key, value),
  load: (key) => cache.getOrSet(key, () => 'loaded'),
})
