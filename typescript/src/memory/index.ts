/** A cache of this program's own objects, in memory. Needs nothing else of the package. */
export type { Duration } from '../duration.ts'
export {
  EntryTooLarge,
  InvalidArgument,
  InvalidKey,
  PolycacheError,
  UnsupportedValue,
} from '../errors.ts'
export type { MemoryCacheEvents } from './events.ts'
export { MemoryCache, type MemoryEntry, type MemoryStats, type Pairs } from './memory-cache.ts'
export type {
  Isolation,
  MemoryCacheOptions,
  MemoryOptions,
  MemorySetOptions,
  PolicyName,
} from './options.ts'
