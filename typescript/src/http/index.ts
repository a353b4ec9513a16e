/** Values over HTTP: encoded once, with entity tags, compressed variants and conditions, for any server. */
export type { CacheControl } from './cache-control.ts'
export { CODINGS, type Coding } from './codings.ts'
export type { Composite, WithinOptions } from './composite.ts'
export {
  type Asked,
  type Endpoint,
  type EndpointOptions,
  endpoint,
  type Source,
} from './endpoint.ts'
export { type FastifyReplyLike, type FastifyRequestLike, sendFastify } from './fastify.ts'
export {
  type NextCacheControl,
  type NextCacheHandler,
  type NextCacheHandlerOptions,
  type NextEntry,
  type NextGetContext,
  type NextSetContext,
  type NextStore,
  nextCacheHandler,
} from './next-cache-handler.ts'
export type { Tags, TagTimes } from './next-tags.ts'
export type { NextValue } from './next-values.ts'
export { type NodeRequest, type NodeResponse, send } from './node.ts'
export {
  type IncomingLike,
  type NodeHandlerOptions,
  nodeHandler,
  type OutgoingLike,
} from './node-handler.ts'
export type { RespondOptions } from './policy.ts'
export { HttpProblem, type ProblemMembers } from './problem.ts'
export { Representation, type RepresentationOptions } from './representation.ts'
export {
  type AnswerStore,
  type FetchHandler,
  type ResponseCacheOptions,
  responseCache,
} from './response-cache.ts'
export { type StreamRange, type StreamRangeOptions, streamRange } from './stream-range.ts'
export type { RequestLike } from './web.ts'
