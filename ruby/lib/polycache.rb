# frozen_string_literal: true

require "bigdecimal"
require "set"

require_relative "polycache/version"
require_relative "polycache/errors"
require_relative "polycache/uuid"
require_relative "polycache/named"
require_relative "polycache/types"
require_relative "polycache/extension"
require_relative "polycache/cache"
require_relative "polycache/memory_cache"

# One cache that Ruby, Python, TypeScript and Rust processes of a machine share: memory-mapped
# files in one directory, no server.
#
#   cache = Polycache::Cache.new(path: ".cache", namespace: "shop")
#   cache.fetch("user:1", ttl: "5m") { load_user(1) }
#
# Without the native extension, which is compiled on Linux only, there are MemoryCache, a Cache
# without a path, and the namespaces for Redis clients. These are loaded when they are first named.
module Polycache
  autoload :RedisNamespace, "polycache/redis_namespace"

  # Classes built on redis-rb.
  module Redis
    autoload :Namespace, "polycache/redis_namespace/redis_rb"
  end
end
