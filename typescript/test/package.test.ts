/**
 * The packages as they are published: packed, unpacked elsewhere, used with types and without. How they are installed and
 * used with other tools is for checks/packages.
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BINARIES = join(ROOT, 'node_modules', '.bin')
/** A program that uses the package as its types say. What they must refuse is marked. */
const CONSUMER = `
import { Cache, type CacheOptions, DELETE, Decimal, LEAVE, PolycacheError, type Stats, Uuid } from 'polycache'

interface User { name: string }

const options: CacheOptions = { path: process.argv[2], namespace: ['shop', 'users'], ttl: '5m', limit: '4MiB' }
using cache = new Cache(options)
cache.setSync('ada', { name: 'Ada' } satisfies User, { ttl: { ms: 500 } })
const ada: User | undefined = cache.getSync<User>('ada')
const loaded: User = await cache.getOrSet('bob', async ({ signal }) => ({ name: signal === undefined ? 'Bob' : '' }))
const many: Map<'ada' | 'bob', User> = await cache.getMany<User, 'ada' | 'bob'>(['ada', 'bob'])
const stats: Stats = await cache.stats()
const values: unknown[] = [new Decimal('1.50'), new Uuid('123e4567-e89b-12d3-a456-426614174000')]
for (const key of cache.keys()) values.push(key satisfies string | Uint8Array)
const nested: Cache = cache.namespace('x')
try {
  // @ts-expect-error a bare number is not a duration
  nested.setSync('k', 1, { ttl: 5 })
} catch (error) {
  if (!(error instanceof PolycacheError) || error.code !== 'invalid_argument') throw error
}
// @ts-expect-error there is no such option
const wrong = () => new Cache({ path: 'x', colour: 'red' })
// @ts-expect-error a value of an unknown type is unknown
const name = () => cache.getSync('ada').name
const atomic = async () => {
  const sum: number | bigint = await nested.increment('n', 2, { initial: 1n, expiresAt: new Date() })
  const names: string[] | undefined = await nested.update('l', async (names: string[] | undefined) => {
    if (names === undefined) return LEAVE
    return names.length > 9 ? DELETE : [...names, 'Ada']
  })
  const entry = await nested.entry<User>('ada')
  if (entry !== undefined) await nested.compareAndSet('ada', entry.version satisfies bigint, ada)
  // @ts-expect-error a version is a bigint
  await nested.compareAndSet('ada', 1, ada)
  // @ts-expect-error what is stored has another type than what is read
  nested.updateSync('l', (names: string[] | undefined): number => names?.length ?? 0)
  return [sum, names]
}
console.log(JSON.stringify([ada, loaded, [...many], stats.writes, values.length, typeof wrong, typeof name, typeof atomic]))
`

/** A program that uses namespaces only, where the native part is missing and no client is installed. */
const NAMESPACES = `
import { type NamespaceOptions, namespaced, PolycacheError, Session } from 'polycache/redis-namespace'

const options: NamespaceOptions = {
  namespace: ['shop', () => 'users'],
  allow: ['FLUSHALL'],
  commands: { 'JSON.GET': [['key', 1, 1, 1]] },
}
const words = ['JSON.GET', 'k', '$']
new Session(options).rewrite(words)
class Client { get(key: string): string { return key } }
// What is given back has the client's type.
const get = () => namespaced(new Client(), options).get('k').length
try {
  get()
} catch (error) {
  if (!(error instanceof PolycacheError)) throw error
  words.push(error.code)
}
// @ts-expect-error there is no such option
const wrong = () => namespaced(new Client(), { namespace: 'x', prefix: 'y' })
// @ts-expect-error not a rule
const rule: NamespaceOptions = { namespace: 'x', commands: { X: [['kee', 1, 1, 1]] } }
console.log(JSON.stringify([...words, typeof wrong, typeof rule]))
`

/** A program that serves values, with the types of node:http alone. */
const HTTP = `
import { createServer } from 'node:http'
import { Cache, PolycacheError } from 'polycache'
import { endpoint, HttpProblem, nextCacheHandler, nodeHandler, Representation, responseCache } from 'polycache/http'

const page = new Representation(Buffer.from('[1]'))
const served = endpoint(({ query }) => page.within('value', { q: query.get('q') }), { cacheControl: { maxAge: '5s' } })
createServer(served.node)
createServer(nodeHandler(responseCache(new Cache(), () => new Response('a'), { vary: ['accept-language'] })))
new (nextCacheHandler(new Cache()))()
// @ts-expect-error there is no such option
const wrong = () => endpoint(() => page, { colour: 'red' })
const response = await served.fetch(new Request('http://localhost/?q=1'))
console.log(await response.text(), new HttpProblem(404, 'Gone.') instanceof PolycacheError, typeof wrong)
`

/** A program that has its caches observed. */
const METRICS = `
import { metrics } from '@opentelemetry/api'
import { Cache, MemoryCache } from 'polycache'
import { type CacheMetrics, observe, type ObserveOptions } from 'polycache/opentelemetry'

const options: ObserveOptions = { meter: metrics.getMeter('shop'), name: 'prices' }
const observed: CacheMetrics[] = [observe(new Cache(), options), observe(new MemoryCache<number, Date>())]
for (const one of observed) one.close()
// @ts-expect-error no cache
const wrong = () => observe({})
console.log(observed.length, typeof wrong)
`

/** A program that uses the memory cache only, where nothing else of the package is there. */
const MEMORY = `
import { type Duration, EntryTooLarge, MemoryCache, type MemoryCacheOptions, type MemoryStats } from 'polycache/memory'

interface User { name: string }
const ttl: Duration = '5m'
const options: MemoryCacheOptions<number, User> = { maxEntries: 2, ttl, weigher: (id, user) => user.name.length + id }
using cache = new MemoryCache<number, User>(options)
const evicted: string[] = []
cache.on('evicted', (id, user) => evicted.push(id.toFixed() + user.name))
cache.setMany([[1, { name: 'Ada' }], [2, { name: 'Bob' }], [3, { name: 'Cleo' }]], { timeToIdle: '1m' })
const found: User | undefined = cache.get(3)
const keys: number[] = [...cache.keys()]
const stats: MemoryStats = cache.stats()
// @ts-expect-error the value is not a user
const wrong = () => cache.set(1, 'Ada')
// @ts-expect-error a bare number is not a duration
const ttls = () => cache.touch(1, 5)
// @ts-expect-error a key is a number
const key = () => cache.get('1')
// @ts-expect-error there is no such event
const event = () => cache.on('get', () => {})
console.log(JSON.stringify([found, keys.length, evicted.length, stats.bytes > 0, typeof EntryTooLarge, typeof wrong, typeof ttls, typeof key, typeof event]))
`

/**
 * Bytes of a program with the memory cache alone, as README.md states them: minified, and compressed by gzip. 2.7 kB of the
 * compressed ones are loads of several keys, synchronous loads and memoized functions: methods of the class, which no bundler
 * leaves out.
 */
const MEMORY_SIZE = { minified: 66_000, compressed: 22_500 }

// Once is enough: what npm packs is the same for Bun.
if (process.versions.bun === undefined) describe('the packages', inspect)

function inspect(): void {
  let folder: string
  let unpacked: string
  let native: string
  let tarballs: string[]

  function run(command: string, ...given: string[]): string {
    return execFileSync(command, given, { cwd: folder, encoding: 'utf8' })
  }

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'polycache-ts-package-'))
    const modules = join(folder, 'node_modules')
    unpacked = join(modules, 'polycache')
    native = join(modules, '@polycache', 'linux-x64-gnu')
    // The native part that the other tests run, so that nothing is compiled here.
    const built = join(ROOT, 'native', 'polycache.node')
    tarballs = run(join(ROOT, 'package.sh'), folder, built).trim().split('\n').slice(-2)
    for (const [at, into] of [native, unpacked].entries()) {
      mkdirSync(into, { recursive: true })
      run('tar', '-xzf', tarballs[at], '-C', into, '--strip-components=1')
    }
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'consumer.ts'), CONSUMER)
    writeFileSync(join(folder, 'namespaces.ts'), NAMESPACES)
    writeFileSync(join(folder, 'memory.ts'), MEMORY)
    writeFileSync(join(folder, 'metrics.ts'), METRICS)
    writeFileSync(join(folder, 'http.ts'), HTTP)
    // The peer dependency, which the program installs.
    mkdirSync(join(modules, '@opentelemetry'))
    const api = join('@opentelemetry', 'api')
    cpSync(join(ROOT, 'node_modules', api), join(modules, api), { recursive: true })
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('are JavaScript with types for every platform, and a native part for this one', () => {
    const code = ['index', 'http', 'memory', 'opentelemetry', 'reads', 'redis-namespace'].flatMap(
      (name) => ['js', 'cjs', 'd.ts', 'd.cts'].map((suffix) => `dist/${name}.${suffix}`),
    )
    const licences = ['README.md', 'LICENSE-MIT', 'LICENSE-APACHE']
    for (const file of [...code, ...licences, 'bin/polycache.cjs', 'native/load.cjs']) {
      expect(existsSync(join(unpacked, file)), file).toBe(true)
    }
    const files = readdirSync(unpacked, { recursive: true }) as string[]
    expect(files.filter((file) => /^src|\.node$|checkout/.test(file))).toEqual([])
    const parts = [...licences, 'package.json', 'polycache.node']
    expect(readdirSync(native).toSorted()).toEqual(parts.toSorted())
  })

  test('belong together by their exact version', () => {
    const main = manifest(unpacked)
    const { name, version } = manifest(native)
    expect(main.optionalDependencies).toEqual({ [name]: version })
    expect(main.version).toBe(version)
    // The loader compares what it finds with this one.
    expect(readFileSync(join(unpacked, 'native', 'load.cjs'), 'utf8')).toContain(`'${version}'`)
    // Only metrics need it.
    expect(main).toMatchObject({
      peerDependenciesMeta: { '@opentelemetry/api': { optional: true } },
    })
    for (const word of ['os', 'cpu', 'libc', 'scripts', 'devDependencies', 'dependencies']) {
      expect(main).not.toHaveProperty(word)
    }
  })

  test('have no debug information', () => {
    const sections = run('readelf', '--section-headers', '--wide', join(native, 'polycache.node'))
    expect(sections).toContain('.text')
    expect(sections).not.toMatch(/\.debug|\.symtab/)
  })

  test('have no fault that publint knows', async () => {
    for (const pkgDir of [unpacked, native]) {
      const { messages, pkg } = await publint({ pkgDir, pack: false, strict: true })
      expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
    }
  })

  test('have types where there is code, for all kinds of resolution', () => {
    run(join(BINARIES, 'attw'), tarballs[1], '--profile', 'strict')
  })

  test('is typed for its users, and runs', () => {
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types')]
    const target = [
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--lib',
      'es2023,esnext.disposable',
    ]
    run(
      join(BINARIES, 'tsc'),
      '--noEmit',
      '--strict',
      '--ignoreConfig',
      ...types,
      ...target,
      'consumer.ts',
      'namespaces.ts',
      'memory.ts',
      'metrics.ts',
      'http.ts',
    )
    expect(run(process.execPath, 'http.ts')).toBe('{"value":[1],"q":"1"} true function\n')
    expect(run(process.execPath, 'metrics.ts')).toBe('2 function\n')
    const printed = run(process.execPath, 'consumer.ts', join(folder, 'cache'))
    expect(JSON.parse(printed)).toEqual([
      { name: 'Ada' },
      { name: 'Bob' },
      [
        ['ada', { name: 'Ada' }],
        ['bob', { name: 'Bob' }],
      ],
      2,
      4,
      'function',
      'function',
      'function',
    ])
  })

  test('has no top-level await, so that CommonJS can require it', () => {
    const program = `const { Cache } = require('polycache')
      const { namespaced } = require('polycache/redis-namespace')
      const { MemoryCache } = require('polycache/memory')
      const cache = new MemoryCache()
      cache.set('k', 1)
      console.log(typeof Cache, typeof namespaced, cache.get('k'))`
    const printed = run(process.execPath, '--input-type=commonjs', '-e', program)
    expect(printed).toBe('function function 1\n')
  })

  test('has namespaces of Redis without the native part', () => {
    rmSync(native, { recursive: true, force: true })
    const printed = run(process.execPath, 'namespaces.ts')
    const said = ['JSON.GET', 'shop:users:k', '$', 'invalid_argument', 'function', 'object']
    expect(JSON.parse(printed)).toEqual(said)
  })

  test('has a memory cache without the native part', () => {
    rmSync(native, { recursive: true, force: true })
    rmSync(join(unpacked, 'native'), { recursive: true, force: true })
    const printed = run(process.execPath, 'memory.ts')
    expect(JSON.parse(printed).slice(0, 5)).toEqual([{ name: 'Cleo' }, 2, 1, true, 'function'])
  })

  test('imports nothing for the memory cache but what belongs to it', () => {
    const dist = join(unpacked, 'dist')
    const files = importedBy(dist, 'memory.js')
    expect(files.filter((file) => !file.startsWith('./'))).toEqual([])
    expect(files).not.toContain('./index.js')
    // Other files cannot be read: these alone are the memory cache.
    const alone = join(folder, 'alone')
    mkdirSync(alone)
    for (const file of ['./memory.js', ...files]) cpSync(join(dist, file), join(alone, file))
    writeFileSync(join(alone, 'package.json'), '{ "type": "module" }')
    const program = `import { MemoryCache } from './alone/memory.js'
      const cache = new MemoryCache({ ttl: '1s' })
      cache.set('k', { at: [1] })
      console.log(JSON.stringify(cache.get('k')))`
    expect(run(process.execPath, '--input-type=module', '-e', program)).toBe('{"at":[1]}\n')
  })

  test('imports the API of OpenTelemetry for metrics alone', () => {
    const dist = join(unpacked, 'dist')
    const api = '@opentelemetry/api'
    expect(importedBy(dist, 'opentelemetry.js')).toContain(api)
    expect(importedBy(dist, 'index.js')).not.toContain(api)
  })

  test('is small for a program that uses the memory cache alone', () => {
    writeFileSync(
      join(folder, 'small.js'),
      `import { MemoryCache } from 'polycache/memory'
       const cache = new MemoryCache()
       cache.set('k', 'small')
       console.log(cache.get('k'))`,
    )
    const given = ['--minify', '--platform', 'browser', '--format', 'esm', '-o', 'bundle.mjs']
    run(join(BINARIES, 'rolldown'), 'small.js', ...given)
    const bundle = readFileSync(join(folder, 'bundle.mjs'))
    expect(run(process.execPath, 'bundle.mjs')).toBe('small\n')
    const text = bundle.toString()
    const words = ['node:', 'require', 'NativeStore', 'SUBSCRIBE', 'Atomics', 'emptyAtBoot']
    expect(words.filter((word) => text.includes(word))).toEqual([])
    expect(bundle.length).toBeLessThan(MEMORY_SIZE.minified)
    expect(gzipSync(bundle, { level: 9 }).length).toBeLessThan(MEMORY_SIZE.compressed)
    const readme = readFileSync(join(unpacked, 'README.md'), 'utf8')
    const stated = `${MEMORY_SIZE.minified / 1000} kB minified, ${MEMORY_SIZE.compressed / 1000} kB`
    expect(readme).toContain(stated)
  })
}

interface Manifest {
  name: string
  version: string
  optionalDependencies?: Record<string, string>
}

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** What a file imports, and what that imports, by the names in the code. */
function importedBy(dist: string, file: string): string[] {
  const seen = new Set<string>()
  const look = (name: string) => {
    const text = readFileSync(join(dist, name), 'utf8')
    for (const [, from] of text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["']([^"']+)["']/g)) {
      if (seen.has(from)) continue
      seen.add(from)
      if (from.startsWith('.')) look(from)
    }
  }
  look(file)
  return [...seen]
}
