/** What a strict compiler accepts, and what it must refuse. */
import { Cache, type CacheOptions, PolycacheError, type Stats } from 'polycache'
import { MemoryCache } from 'polycache/memory'
import { type NamespaceOptions, namespaced } from 'polycache/redis-namespace'

interface User {
  name: string
}

export async function use(path: string): Promise<Stats> {
  const options: CacheOptions = { path, namespace: ['shop', 'users'], ttl: '5m' }
  const cache = new Cache(options)
  const ada: User = await cache.getOrSet('ada', async ({ signal }) => ({
    name: signal === undefined ? 'Ada' : '',
  }))
  const bob: User | undefined = cache.getSync<User>('bob')
  // @ts-expect-error a value of an unknown type is unknown
  cache.getSync('ada').name
  // @ts-expect-error there is no such option
  new Cache({ path, colour: 'red' })
  const users = new MemoryCache<string, User>({ maxEntries: 10 })
  users.set('ada', bob ?? ada)
  // @ts-expect-error the value is not a user
  users.set('ada', 'Ada')
  const given: NamespaceOptions = { namespace: 'shop' }
  const view: { get(key: string): string } = namespaced({ get: (key: string) => key }, given)
  if (!(view instanceof PolycacheError)) await cache.close()
  return cache.stats()
}
