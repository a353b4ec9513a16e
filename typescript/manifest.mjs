/**
 * Prints the package.json of what is published; package.sh calls it.
 *
 *   node manifest.mjs                   of `polycache`: JavaScript and types, for every platform
 *   node manifest.mjs linux-x64-gnu     of the native part for one platform
 *   node manifest.mjs --here            prints the name of this platform instead
 *
 * A checkout's package.json differs: it finds the native part in native/, and asks npm for none.
 */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const load = require('./native/load.cjs')
const { scripts, devDependencies, ...checkout } = require('./package.json')
const { version, license, engines } = checkout

/** What a platform's name ends in, and what npm calls the C library. */
const LIBC = { gnu: 'glibc', musl: 'musl' }

/** The native parts are installed with it, each where it fits, and always those of the same version. */
function main() {
  const natives = load.packages.map((platform) => [`@polycache/${platform}`, version])
  return {
    ...checkout,
    imports: { '#native': './native/load.cjs' },
    optionalDependencies: Object.fromEntries(natives),
  }
}

function native(platform) {
  if (!load.packages.includes(platform)) {
    throw new Error(
      `${platform} is not in native/load.cjs, which lists what is built: ${load.packages.join(', ')}`,
    )
  }
  const [os, cpu, libc] = platform.split('-')
  return {
    name: `@polycache/${platform}`,
    version,
    description: `The native part of polycache for ${platform}`,
    license,
    engines,
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [LIBC[libc]] }),
    main: './polycache.node',
    files: ['polycache.node', 'LICENSE-*'],
  }
}

const [asked] = process.argv.slice(2)
if (asked === '--here') console.log(load.platform())
else console.log(JSON.stringify(asked === undefined ? main() : native(asked), null, 2))
