import { execFileSync } from 'node:child_process'
import { defineConfig, type ViteUserConfig } from 'vitest/config'

/**
 * On processors with protection keys V8 may abort in a worker thread ("Check failed: jit_page.has_value()"), which is its own
 * fault. Not every Node has the flag.
 */
const flag = '--no-memory-protection-keys'
const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
const execArgv = options.includes('--memory-protection-keys') ? [flag] : []

/** The limit is for programs that hang; a busy machine must not meet it. Bun takes it as an argument: `npm run test:bun`. */
const config: ViteUserConfig = defineConfig({
  test: { include: ['test/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 120_000, execArgv },
})

export default config
