/** Namespaces keep keys apart, nest, and are cleared in one step, however much they hold. */
import assert from 'node:assert/strict'
import { Cache } from 'polycache'

using shop = new Cache({ path: '.cache', namespace: ['examples', 'namespaces.ts'] })
await shop.clear()
const users = shop.namespace('users')
const archive = users.namespace('archive')
const neighbours = shop.namespace('usersAbc')

for (const cache of [shop, users, archive, neighbours]) await cache.set('1', 'here')
await users.setMany({ 'name:ada': 'Ada', 'name:alan': 'Alan', 'age:ada': 36 })
console.log([...users.keys('name:')].sort())
const found = await users.getMany(['name:ada', 'name:eve'])
assert.deepEqual([...found], [['name:ada', 'Ada']])

// What is nested goes with it; neighbours and parents stay.
await users.clear()
const left = [shop, users, archive, neighbours].map((cache) => cache.hasSync('1'))
console.log(left)
assert.deepEqual(left, [true, false, false, true])
