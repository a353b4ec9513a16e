'use strict'
/**
 * Finds the native part, which is an npm package of its own for each platform: npm installs the one whose `os`, `cpu` and
 * `libc` fit, and none where none fits. The published package loads this file as `#native`, a checkout `checkout.cjs`.
 *
 * It is CommonJS, and each name is a literal in a `require` inside a `try` of the same function: so bundlers follow the
 * packages that are installed, and take it that others are missing.
 */

/** The packages that are built. A line here adds one: `../manifest.mjs` reads os, cpu and libc from its name. */
// biome-ignore format: a line a platform
const packages = {
  'linux-x64-gnu': (failed) => { try { return require('@polycache/linux-x64-gnu') } catch (failure) { failed(failure) } },
}

/** The version that the packages must have: this package's. JavaScript reads the mapping at offsets that belong together. */
const VERSION = '0.1.0'

/**
 * The native part.
 * @param requireHere another `require` to try, for bundles of ES modules, where the one of this file finds nothing external
 * @throws {Error} it is not there or does not load; the message says what was tried and what to do
 */
function load(requireHere) {
  const attempts = []
  for (const name of candidates()) {
    const failed = (failure) => attempts.push({ name, failure })
    const found = packages[name](failed) ?? retry(requireHere, name)
    if (found !== undefined) return checked(name, found)
  }
  throw new Error(explain(attempts), { cause: attempts.at(-1)?.failure })
}

/** The packages for this system and processor. Of two C libraries the wrong one does not load, and the other is tried. */
function candidates() {
  const platform = `${process.platform}-${process.arch}`
  return Object.keys(packages).filter(
    (name) => name === platform || name.startsWith(`${platform}-`),
  )
}

function retry(requireHere, name) {
  try {
    return requireHere?.(`@polycache/${name}`)
  } catch {
    // The first attempt's failure says more.
    return undefined
  }
}

function checked(name, found) {
  if (typeof found.version !== 'function') {
    throw new Error(
      `polycache's native part was replaced by ${typeof found === 'string' ? 'the name of a file' : 'something else'}, by a bundler: its loader for .node files must copy them (esbuild: --loader:.node=copy), or leave @polycache/${name} external`,
    )
  }
  const version = found.version()
  if (version === VERSION) return found
  throw new Error(
    `polycache ${VERSION} needs @polycache/${name} ${VERSION}, and found ${version}: install them together, and build a bundle anew`,
  )
}

function explain(attempts) {
  const here = platform()
  const others =
    'A cache without a path, polycache/memory and polycache/redis-namespace work here too.'
  if (packages[here] === undefined) {
    return `a cache with a path needs polycache's native part, and there is none for ${here}: it is built for ${Object.keys(packages).join(', ')}. ${others}`
  }
  const lines = attempts.map(({ name, failure }) => `@polycache/${name}: ${advice(name, failure)}`)
  return `polycache's native part for ${here} does not load, and a cache with a path needs it. ${lines.join('; ')}. ${others}`
}

/** Whether the C library is glibc; of others we know musl only. */
function glibc() {
  const { report } = process
  const { excludeNetwork } = report
  // Without it the report looks up the names of all hosts that the process is connected to.
  report.excludeNetwork = true
  try {
    return report.getReport().header.glibcVersionRuntime !== undefined
  } finally {
    report.excludeNetwork = excludeNetwork
  }
}

/** What to do about a failure. */
function advice(name, failure) {
  const said = String(failure?.message ?? failure).split('\n')[0]
  if (/dynamic require/i.test(said)) {
    return `this bundle of ES modules has no require: make one in a banner (import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)), or leave @polycache/${name} external and install it beside the bundle`
  }
  if (/cannot find (module|package)/i.test(said)) {
    return `it is not installed: npm install @polycache/${name}@${VERSION}, or install polycache again without --omit=optional and on this platform; beside a bundle that leaves it external it must be installed too`
  }
  return said
}

/** This platform's name, as its package has it. */
function platform() {
  const name = `${process.platform}-${process.arch}`
  if (process.platform !== 'linux') return name
  return `${name}-${glibc() ? 'gnu' : 'musl'}`
}

module.exports = load
module.exports.packages = Object.keys(packages)
module.exports.platform = platform
