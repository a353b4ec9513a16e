/** Values over HTTP: encoded once, with entity tags, compressed variants and conditions, for any server. */
export type { CacheControl } from './cache-control.ts'
export { CODINGS, type Coding } from './codings.ts'
export type { Composite, WithinOptions } from './composite.ts'
export {
  type Asked,
  type Endpoint,
  type EndpointOptions,
  endpoint,
  type Served,
  type Source,
} from './endpoint.ts'
export { sendFastify } from './fastify.ts'
export {
  type NextCacheHandler,
  type NextCacheHandlerOptions,
  nextCacheHandler,
} from './next-cache-handler.ts'
export { send } from './node.ts'
export { type NodeHandlerOptions, nodeHandler } from './node-handler.ts'
export type { RespondOptions } from './policy.ts'
export { HttpProblem, type ProblemMembers } from './problem.ts'
export { Representation, type RepresentationOptions } from './representation.ts'
export { type FetchHandler, type ResponseCacheOptions, responseCache } from './response-cache.ts'
export { type StreamRange, type StreamRangeOptions, streamRange } from './stream-range.ts'
export type { RequestLike } from './web.ts'
