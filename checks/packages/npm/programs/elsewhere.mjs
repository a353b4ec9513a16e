/** What works without a native part, and what the rest says. */
import assert from 'node:assert/strict'
import { Cache, MemoryCache, UnsupportedPlatform } from 'polycache'
import { Session } from 'polycache/redis-namespace'

const memory = new MemoryCache({ ttl: '5m' })
memory.set('k', { name: 'Ada' })
assert.deepEqual(memory.get('k'), { name: 'Ada' })
const cache = new Cache()
assert.equal(await cache.getOrSet('k', () => 1), 1)
const words = ['GET', 'k']
new Session({ namespace: 'shop' }).rewrite(words)
assert.deepEqual(words, ['GET', 'shop:k'])
try {
  new Cache({ path: process.argv[2] })
} catch (error) {
  assert(error instanceof UnsupportedPlatform)
  assert.equal(error.code, 'unsupported_platform')
  console.log(error.message)
}
