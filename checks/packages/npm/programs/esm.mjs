/** ES modules: every tier, and that `require` in the same process has the same classes. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { Cache, Decimal, MemoryCache, PolycacheError } from 'polycache'
import { MemoryCache as Alone } from 'polycache/memory'
import { Session } from 'polycache/redis-namespace'

const [path] = process.argv.slice(2)
const cache = new Cache({ path, namespace: 'shop' })
const loaded = await cache.getOrSet('ada', async () => ({ name: 'Ada' }), { ttl: '5m' })
assert.deepEqual(loaded, { name: 'Ada' })
cache.setSync('price', new Decimal('1.50'))
assert.deepEqual(cache.getSync('price'), new Decimal('1.50'))
assert.throws(() => new Cache({ path: '/dev/null/cache' }), { name: 'IoError' })
assert.equal(Alone, MemoryCache)
assert.deepEqual(new Session({ namespace: 'shop' }).rewrite(['GET', 'k']).length > 0, true)

const required = createRequire(import.meta.url)('polycache')
assert.equal(required.Cache, Cache)
assert.equal(required.PolycacheError, PolycacheError)
console.log('ok')
