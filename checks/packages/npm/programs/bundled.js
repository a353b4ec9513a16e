/** What bundlers make one file of. */
import { Cache } from 'polycache'
import { MemoryCache } from 'polycache/memory'

const [path] = process.argv.slice(2)
const cache = new Cache({ path })
cache.setSync('k', { name: 'Ada' })
const memory = new MemoryCache()
memory.set('k', 'memory')
console.log(JSON.stringify([cache.getSync('k'), memory.get('k')]))
