import type { UserConfig } from 'tsdown'

/** What is published: one module and its types, in dist/. */
const config: UserConfig = { entry: 'src/index.ts', dts: true, fixedExtension: false }
export default config
