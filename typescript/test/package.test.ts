/** The package as it is published: packed, unpacked elsewhere, used with types and without. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BINARIES = join(ROOT, 'node_modules', '.bin')
/** A program that uses the package as its types say. What they must refuse is marked. */
const CONSUMER = `
import { Cache, type CacheOptions, Decimal, PolycacheError, type Stats, Uuid } from 'polycache'

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
  // @ts-expect-error a bare number is no duration
  nested.setSync('k', 1, { ttl: 5 })
} catch (error) {
  if (!(error instanceof PolycacheError) || error.code !== 'invalid_argument') throw error
}
// @ts-expect-error there is no such option
const wrong = () => new Cache({ path: 'x', colour: 'red' })
// @ts-expect-error a value of an unknown type is unknown
const name = () => cache.getSync('ada').name
console.log(JSON.stringify([ada, loaded, [...many], stats.writes, values.length, typeof wrong, typeof name]))
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

// Once is enough: what npm packs is the same for Bun.
if (process.versions.bun === undefined) describe('the package', inspect)

function inspect(): void {
  let folder: string
  let unpacked: string
  let tarball: string

  function run(command: string, ...given: string[]): string {
    return execFileSync(command, given, { cwd: folder, encoding: 'utf8' })
  }

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'polycache-ts-package-'))
    unpacked = join(folder, 'node_modules', 'polycache')
    mkdirSync(unpacked, { recursive: true })
    const [name] = run(join(ROOT, 'package.sh'), folder).trim().split('\n').slice(-1)
    tarball = join(folder, name)
    run('tar', '-xzf', tarball, '-C', unpacked, '--strip-components=1')
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'consumer.ts'), CONSUMER)
    writeFileSync(join(folder, 'namespaces.ts'), NAMESPACES)
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('holds the code, its types, the native part and the licences', () => {
    for (const file of [
      'dist/index.js',
      'dist/index.d.ts',
      'dist/redis-namespace.js',
      'dist/redis-namespace.d.ts',
      'native/polycache.node',
      'README.md',
      'LICENSE-MIT',
      'LICENSE-APACHE',
    ]) {
      expect(existsSync(join(unpacked, file)), file).toBe(true)
    }
    expect(existsSync(join(unpacked, 'src'))).toBe(false)
  })

  test('has no fault that publint knows', async () => {
    const { messages, pkg } = await publint({ pkgDir: unpacked, pack: false, strict: true })
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
  })

  test('has types where it has code', () => {
    run(join(BINARIES, 'attw'), tarball, '--profile', 'esm-only')
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
    )
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
    ])
  })

  test('has no top-level await, so that CommonJS can require it', () => {
    const program = `const { Cache } = require('polycache')
      const { namespaced } = require('polycache/redis-namespace')
      console.log(typeof Cache, typeof namespaced)`
    const printed = run(process.execPath, '--input-type=commonjs', '-e', program)
    expect(printed).toBe('function function\n')
  })

  test('says what is missing when the native part cannot be loaded', () => {
    const native = join(unpacked, 'native', 'polycache.node')
    for (const how of ['damaged', 'missing']) {
      if (how === 'missing') rmSync(native)
      else writeFileSync(native, 'not a library')
      const program = `import { Cache } from 'polycache'
        try { new Cache({ path: 'x' }) } catch (error) { console.log(error.name, error.code, error.cause instanceof Error) }`
      const printed = run(process.execPath, '--input-type=module', '-e', program)
      expect(printed, how).toBe('UnsupportedPlatform unsupported_platform true\n')
    }
  })

  test('has namespaces of Redis without the native part', () => {
    rmSync(join(unpacked, 'native', 'polycache.node'), { force: true })
    const printed = run(process.execPath, 'namespaces.ts')
    const said = ['JSON.GET', 'shop:users:k', '$', 'invalid_argument', 'function', 'object']
    expect(JSON.parse(printed)).toEqual(said)
  })
}
