/** Classes in the cache, for every language that registers their names. */
import assert from 'node:assert/strict'
import { Cache, registered } from 'polycache'

class Status {
  readonly #text: string
  constructor(text: string) {
    this.#text = text
  }
  toString(): string {
    return this.#text
  }
}

class User {
  readonly id: number
  readonly name: string
  readonly status: Status
  readonly tags: string[]

  constructor(id: number, name: string, status = new Status('active'), tags: string[] = []) {
    this.id = id
    this.name = name
    this.status = status
    this.tags = tags
  }
}

using cache = new Cache({
  path: '.cache',
  namespace: ['examples', 'types'],
  types: {
    user: registered(User, {
      encode: (user) => ({ ...user }),
      decode: ({ id, name, status, tags }: User) => new User(id, name, status, tags),
    }),
    status: registered(Status, {
      encode: (status) => String(status),
      decode: (text: string) => new Status(text),
    }),
  },
})

await cache.set('ada', new User(1, 'Ada Lovelace', undefined, ['admin']))
const ada = await cache.get('ada')
console.log(ada)
assert(ada instanceof User && String(ada.status) === 'active' && ada.tags.includes('admin'))

// Any of the examples, in any language, may have written it.
const shared = await cache.getOrSet('shared', () => new User(2, 'Grace Hopper'))
console.log(shared)
assert.equal(shared.name, 'Grace Hopper')
