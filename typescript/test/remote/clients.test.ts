/** What is taken over of a client, and what is refused because it cannot be. */
import { Cluster, Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis-5'
import { createClient, createCluster, createSentinel } from 'redis'
import { createClient as createClient5, createCluster as createCluster5 } from 'redis-5'
import { describe, expect, test } from 'vitest'
import { Cache, InvalidArgument } from '../../src/index.ts'
import { namespaced } from '../../src/redis-namespace/index.ts'
import { settingsOf } from '../../src/remote/settings.ts'
import { failure } from '../support/failure.ts'

const at = (host: string, port: number) => ({ addresses: [{ host, port }], cluster: false })
const ca = Buffer.from('-----BEGIN CERTIFICATE-----')
const tls = { ca, insecure: false }

describe.each([
  ['ioredis 6', Redis],
  ['ioredis 5', Redis5 as unknown as typeof Redis],
])('%s', (_, Redis) => {
  const open = (options: object) => new Redis({ ...options, lazyConnect: true })
  const told: [string, object, object][] = [
    ['nothing', {}, { ...at('localhost', 6379), database: 0 }],
    ['a host and a port', { host: 'h', port: 7 }, { ...at('h', 7), database: 0 }],
    [
      'a path',
      { path: '/tmp/redis.sock' },
      { addresses: [{ path: '/tmp/redis.sock' }], cluster: false, database: 0 },
    ],
    [
      'a user with a password, and a database',
      { username: 'ada', password: 'secret', db: 3 },
      { ...at('localhost', 6379), username: 'ada', password: 'secret', database: 3 },
    ],
    ['tls', { tls: { ca } }, { ...at('localhost', 6379), database: 0, tls }],
    [
      'a certificate that nobody looks at',
      { tls: { rejectUnauthorized: false } },
      { ...at('localhost', 6379), database: 0, tls: { insecure: true } },
    ],
    [
      'Sentinels',
      {
        sentinels: [{ host: 's1', port: 1 }, { host: 's2' }],
        name: 'main',
        sentinelUsername: 'watch',
        sentinelPassword: 'dog',
        password: 'secret',
      },
      {
        addresses: [
          { host: 's1', port: 1 },
          { host: 's2', port: 26379 },
        ],
        cluster: false,
        sentinel: { name: 'main', username: 'watch', password: 'dog', tls: false },
        password: 'secret',
        database: 0,
      },
    ],
  ]
  test.each(told)('%s', (_, options, settings) => {
    const found = settingsOf(open(options))
    expect(found).toMatchObject(settings)
    expect(Object.keys(found).sort()).toEqual(Object.keys(settings).sort())
  })

  test('a URL', () => {
    const client = new Redis('rediss://ada:s%20ecret@h:7/2', { lazyConnect: true })
    expect(settingsOf(client)).toEqual({
      ...at('h', 7),
      username: 'ada',
      password: 's ecret',
      database: 2,
      tls: { insecure: false },
    })
  })

  test.each([
    ['keyPrefix', { keyPrefix: 'shop:' }],
    ['natMap', { sentinels: [{ host: 's' }], name: 'main', natMap: {} }],
    ['role', { sentinels: [{ host: 's' }], name: 'main', role: 'slave' }],
    ['tls.pfx', { tls: { pfx: ca } }],
    ['tls.checkServerIdentity', { tls: { checkServerIdentity: () => undefined } }],
    ['one of tls.cert and tls.key', { tls: { cert: ca } }],
  ])('%s is refused', (name, options) => {
    expect(() => settingsOf(open(options))).toThrow(InvalidArgument)
    expect(() => settingsOf(open(options))).toThrow(name)
  })
})

describe("ioredis' Cluster", () => {
  const open = (nodes: ConstructorParameters<typeof Cluster>[0], options: object = {}) =>
    new Cluster(nodes, { ...options, lazyConnect: true })

  test('its first nodes, its user and its password', () => {
    const redisOptions = { username: 'ada', password: 'secret', tls: { ca } }
    const nodes = [{ host: 'a', port: 1 }, 'redis://b:2', 3]
    expect(settingsOf(open(nodes, { redisOptions }))).toEqual({
      addresses: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
        { host: '127.0.0.1', port: 3 },
      ],
      cluster: true,
      username: 'ada',
      password: 'secret',
      database: 0,
      tls,
    })
  })

  test.each([
    ['keyPrefix', { keyPrefix: 'shop:' }],
    ['keyPrefix', { redisOptions: { keyPrefix: 'shop:' } }],
    ['natMap', { natMap: {} }],
    ['useSRVRecords', { useSRVRecords: true }],
  ])('%s is refused', (name, options) => {
    expect(() => settingsOf(open([3], options))).toThrow(InvalidArgument)
    expect(() => settingsOf(open([3], options))).toThrow(name)
  })
})

describe.each([
  ['node-redis 6', createClient, createCluster],
  [
    'node-redis 5',
    createClient5 as unknown as typeof createClient,
    createCluster5 as unknown as typeof createCluster,
  ],
])('%s', (_, createClient, createCluster) => {
  test.each<[string, object | undefined, object]>([
    ['nothing', undefined, { ...at('localhost', 6379), database: 0 }],
    [
      'a URL',
      { url: 'redis://ada:s%20ecret@h:7/2' },
      { ...at('h', 7), username: 'ada', password: 's ecret', database: 2 },
    ],
    [
      'a URL that says that it is encrypted',
      { url: 'rediss://h:7' },
      { ...at('h', 7), database: 0, tls: { insecure: false } },
    ],
    [
      "a socket's options",
      {
        socket: { host: 'h', port: 7, tls: true, ca },
        username: 'ada',
        password: 'p',
        database: 3,
      },
      { ...at('h', 7), username: 'ada', password: 'p', database: 3, tls },
    ],
    [
      'a path',
      { socket: { path: '/tmp/redis.sock' } },
      { addresses: [{ path: '/tmp/redis.sock' }], cluster: false, database: 0 },
    ],
  ])('%s', (_, options, settings) => {
    expect(settingsOf(createClient(options))).toEqual(settings)
  })

  test('a Cluster', () => {
    const cluster = createCluster({
      rootNodes: [{ url: 'redis://a:1' }, { socket: { host: 'b', port: 2 } }],
      defaults: { username: 'ada', password: 'secret' },
    })
    expect(settingsOf(cluster)).toEqual({
      addresses: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
      cluster: true,
      username: 'ada',
      password: 'secret',
      database: 0,
    })
  })

  test('what only its own code can do is refused', () => {
    const credentialsProvider = {
      type: 'async-credentials-provider' as const,
      credentials: async () => ({ username: 'ada', password: 'secret' }),
    }
    const clients: [string, object][] = [
      ['credentialsProvider', createClient({ credentialsProvider })],
      ['tls.pfx', createClient({ socket: { host: 'h', tls: true, pfx: ca } })],
      [
        'nodeAddressMap',
        createCluster({ rootNodes: [{ url: 'redis://a:1' }], nodeAddressMap: {} }),
      ],
    ]
    for (const [name, client] of clients) {
      expect(() => settingsOf(client)).toThrow(InvalidArgument)
      expect(() => settingsOf(client)).toThrow(name)
    }
  })
})

test("node-redis' Sentinels", () => {
  const sentinel = createSentinel({
    name: 'main',
    sentinelRootNodes: [
      { host: 's1', port: 1 },
      { host: 's2', port: 2 },
    ],
    nodeClientOptions: { username: 'ada', password: 'secret' },
    sentinelClientOptions: { password: 'dog' },
  })
  expect(settingsOf(sentinel)).toEqual({
    addresses: [
      { host: 's1', port: 1 },
      { host: 's2', port: 2 },
    ],
    cluster: false,
    sentinel: { name: 'main', password: 'dog', tls: false },
    username: 'ada',
    password: 'secret',
    database: 0,
  })
})

test('what is no client, and the view of one', () => {
  const redis = new Redis({ lazyConnect: true })
  expect(() => settingsOf(namespaced(redis, { namespace: 'shop' }))).toThrow('view of a namespace')
  for (const remote of [{}, [], () => {}, new Map()]) {
    expect(() => settingsOf(remote)).toThrow(InvalidArgument)
  }
  for (const remote of [null, 7, true]) {
    expect(() => new Cache({ remote: remote as unknown as object })).toThrow(InvalidArgument)
  }
})

describe('a URL, with TLS options', () => {
  const of = (remote: object) => settingsOf(remote)
  const local = { ...at('h', 7), database: 0 }

  test.each<[object, object]>([
    [{ url: 'redis://h:7' }, local],
    [{ url: 'valkey://h:7/' }, local],
    [{ url: 'h:7' }, local],
    [{ url: 'redis://h' }, { ...at('h', 6379), database: 0 }],
    [{ url: 'redis://[::1]:7/3' }, { ...at('::1', 7), database: 3 }],
    [
      { url: 'redis://ada:s%20ecret@h:7/2' },
      { ...local, username: 'ada', password: 's ecret', database: 2 },
    ],
    [{ url: 'redis://:secret@h:7' }, { ...local, password: 'secret' }],
    [{ url: 'redis://ada@h:7' }, { ...local, username: 'ada', password: '' }],
    [{ url: 'rediss://h:7' }, { ...local, tls: { insecure: false } }],
    [
      { url: 'valkey+tls://h:7', tls: false },
      { ...local, tls: { insecure: false } },
    ],
    [
      { url: 'redis://h:7', tls: true },
      { ...local, tls: { insecure: false } },
    ],
    [
      { url: 'rediss://h:7', tls: { ca } },
      { ...local, tls },
    ],
    [
      { url: 'rediss://h:7', tls: { rejectUnauthorized: false } },
      { ...local, tls: { insecure: true } },
    ],
    [
      { url: 'redis+unix:///tmp/redis.sock' },
      { addresses: [{ path: '/tmp/redis.sock' }], cluster: false, database: 0 },
    ],
  ])('%j', (given, settings) => {
    expect(of(given)).toEqual(settings)
  })

  test.each<[object, string]>([
    [{ url: 'http://h' }, 'none of redis:'],
    [{ url: 'unix:///tmp/redis.sock' }, 'none of redis:'],
    [{ url: 'redis://' }, 'names no host'],
    [{ url: 'redis://h:x' }, 'none of redis:'],
    [{ url: 'redis://h/x' }, 'number of a database'],
    [{ url: 'redis://h/1/2' }, 'number of a database'],
    [{ url: 'redis://h?db=3' }, 'has a query'],
    [{ url: 'redis://ada:s%zz@h' }, 'no escape'],
    [{ url: 'redis+tls+unix:///tmp/redis.sock' }, 'with TLS'],
    [{ url: 'redis+unix:///tmp/redis.sock', tls: true }, 'with TLS'],
    [{ url: 7 }, 'no text'],
    [{ url: 'redis://h', database: 3 }, 'without database'],
    [{ url: 'redis://h', tls: 'yes' }, 'tls of another kind'],
    [{ url: 'redis://h', tls: { serverName: 'other' } }, 'without tls.serverName'],
    [{ url: 'redis://h', tls: { ca: 7 } }, 'tls.ca'],
    [{ url: 'redis://h', tls: { cert: ca } }, 'one of tls.cert and tls.key'],
  ])('%j is refused', (given, why) => {
    expect(() => of(given)).toThrow(InvalidArgument)
    expect(() => of(given)).toThrow(why)
  })

  test('a password is not shown', () => {
    const urls = ['http://ada:secret@h', 'redis://ada:secret@h/x', 'redis://ada:secret%zz@h']
    for (const url of urls) {
      expect(String(failure(() => of({ url })))).toMatch(/^InvalidArgument: (?!.*secret)/)
    }
  })
})
