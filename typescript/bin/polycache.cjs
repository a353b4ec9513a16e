#!/usr/bin/env node
'use strict'
/** The command `polycache`, which the native part has: nothing here touches the standard streams that it uses. */
const load = require('#native')

/** What the command itself says by it: the cache or the operating system failed. */
const FAILED = 4

try {
  process.exitCode = load().cli(['polycache', ...process.argv.slice(2)])
} catch (failure) {
  const said = { code: 'unsupported_platform', message: failure.message, retryable: false }
  const json = process.argv.includes('--json')
  console.error(json ? JSON.stringify({ error: said }) : `polycache: ${failure.message}`)
  process.exitCode = FAILED
}
