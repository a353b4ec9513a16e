# frozen_string_literal: true

require_relative "errors"
require_relative "extension"
require_relative "cache"
require_relative "reads/cached_reads"
require_relative "reads/opened"
require_relative "reads/ways"

module Polycache
  # The client's own read commands, answered from this process' memory or from what this host keeps,
  # while that is no further behind the server than +max_staleness+ (spec/reads.md). What is not
  # kept, or not by a server that is heard, the client reads.
  #
  #   reads = Polycache.cached(redis, path: ".cache")
  #   reads.xrange("OPTIONS", "-", "+")
  #
  # @param client [Redis, Redis::Cluster, Redis::Namespace, RedisClient, RedisClient::Pooled,
  #   RedisClient::Cluster, ConnectionPool] of redis-rb 5 or redis-client, or a pool of such clients
  # @param cache [Cache, nil] one with the option +remote+, the server of the client, whose
  #   directory and connections are shared; nil opens one by the options. Default: nil.
  # @param options what Opened reads: +path+, +limit+, +mode+, +max_staleness+, +timeout+ and
  #   +prefix+ as for Cache.new; +memory+ (+max_entries+, +max_bytes+, +policy+, +isolation+, which
  #   is "freeze" unless it is given); +prefixes+, an Array of Strings, what the keys that are read
  #   begin with, so that the server need not tell of writes of others (those of a namespace's
  #   client come behind its own prefix): all keys of the client unless it is given
  # @return [CachedReads]
  # @raise [InvalidArgument] for a client whose replies cannot be cached, with the reason, and for a
  #   wrong option
  def self.cached(client, cache = nil, **options)
    Extension.needed_for("cached")
    way = Reads::Ways.of(client)
    reads = Reads::Reader.new(way, Reads::Opened.new(way, cache, options))
    (way.redis_rb? ? CachedReads : CachedCalls).new(client, reads)
  end

  private_constant :Reads
end
