import { defineConfig, type UserConfig } from 'tsdown'

/** What is published. Development and tests run the sources. */
const config: UserConfig = defineConfig({
  entry: {
    index: 'src/index.ts',
    http: 'src/http/index.ts',
    memory: 'src/memory/index.ts',
    opentelemetry: 'src/opentelemetry.ts',
    reads: 'src/reads/index.ts',
    'redis-namespace': 'src/redis-namespace/index.ts',
  },
  // CommonJS for Jest and the like. Node and Bun take the ES modules for `require` too, by the conditions in package.json,
  // so that a program has the code and its classes once.
  format: { esm: {}, cjs: { sourcemap: false, define: { 'import.meta.url': 'undefined' } } },
  deps: { neverBundle: ['#native'] },
  platform: 'node',
  target: 'node22',
  fixedExtension: false,
  dts: true,
  sourcemap: true,
  clean: true,
})

export default config
