'use strict'
/** The native part in a checkout, where `make build` puts it; `load.cjs` finds it in what is published. */

function load() {
  try {
    return require('./polycache.node')
  } catch (cause) {
    throw new Error(
      `polycache's native part does not load in this checkout (${cause.message.split('\n')[0]}): run \`make build\` first`,
      { cause },
    )
  }
}

module.exports = load
