# frozen_string_literal: true

require "bigdecimal"
require "set"

require_relative "polycache/version"
require_relative "polycache/errors"
require_relative "polycache/uuid"
# The native extension: Polycache::Native.
require_relative "polycache/polycache"
require_relative "polycache/cache"
require_relative "polycache/memory_cache"

# One cache that Ruby, Python, TypeScript and Rust processes of a machine share: memory-mapped
# files in one directory, no server.
#
#   cache = Polycache::Cache.new(path: ".cache", namespace: "shop")
#   cache.fetch("user:1", ttl: "5m") { load_user(1) }
module Polycache
end
