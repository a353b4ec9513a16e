// Builds the project where it was not built yet, and starts it. setup.sh copies its sources, and
// installs its packages, into a folder under target/.
//
// Static routes are rendered by the build, so it needs a Redis that holds the stream.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { HOST, versionsOf } from '../lib/ready.mjs'

const PROJECT = new URL('../../../target/bench-http/next/', import.meta.url)
const PACKAGES = new URL('node_modules/', PROJECT)
// setup.sh removes it when the sources change.
const BUILT = new URL('.next/built', PROJECT)

const NEXT = fileURLToPath(new URL('next/dist/bin/next', PACKAGES))
const OPTIONS = {
  cwd: fileURLToPath(PROJECT),
  env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
}

function build() {
  if (existsSync(BUILT)) return
  const done = spawnSync(process.execPath, [NEXT, 'build'], OPTIONS)
  if (done.status !== 0)
    throw new Error(`next build: ${done.stderr}${done.stdout}${done.error ?? ''}`)
  writeFileSync(BUILT, '')
}

/** Resolves to the port and the versions, once `next start` listens. It ends with our process group. */
export async function start() {
  build()
  const stdio = ['ignore', 'pipe', 'inherit']
  const server = spawn(process.execPath, [NEXT, 'start', '-p', '0', '-H', HOST], {
    ...OPTIONS,
    stdio,
  })
  let port
  for await (const line of createInterface({ input: server.stdout })) {
    port ??= line.match(/Local:.*:(\d+)/)?.[1]
    if (port && line.includes('Ready')) break
  }
  if (!port) throw new Error('Error: next start ended before it listened')
  server.stdout.resume()
  return {
    port: Number(port),
    versions: versionsOf(['next', 'react', 'ioredis', 'redis'], PACKAGES),
  }
}
