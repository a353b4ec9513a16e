import { defineConfig, type UserConfig } from 'tsdown'

/** What is published. Development and tests run the sources. */
const config: UserConfig = defineConfig({
  entry: {
    index: 'src/index.ts',
    memory: 'src/memory/index.ts',
    'redis-namespace': 'src/redis-namespace/index.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node22',
  fixedExtension: false,
  dts: true,
  sourcemap: true,
  clean: true,
})

export default config
