/** Reads what another process wrote. */
import { Cache } from 'polycache'

const [path, namespace, key] = process.argv.slice(2)
const cache = new Cache({ path, namespace })
console.log(JSON.stringify(cache.getSync(key)))
