import { defineConfig, type ViteUserConfig } from 'vitest/config'

/** The limit is for programs that hang; a busy machine must not meet it. Bun takes it as an argument: `npm run test:bun`. */
const config: ViteUserConfig = defineConfig({
  test: { include: ['test/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 120_000 },
})

export default config
