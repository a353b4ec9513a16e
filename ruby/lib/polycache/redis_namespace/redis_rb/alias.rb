# frozen_string_literal: true

# Gives Polycache::Redis::Namespace the name Redis::Namespace, for libraries that name it themselves
# (Resque and its plugins):
#
#   require "polycache/redis_namespace/redis_rb/alias"
#   Resque.redis = Redis::Namespace.new(:jobs, redis: Redis.new)

# Where the gem is there too, it comes first: a library that requires it later would open ours.
begin
  require "redis-namespace"
rescue LoadError # It is not needed.
  nil
end

require_relative "../redis_rb"

class Redis
  remove_const(:Namespace) if const_defined?(:Namespace, false)
  Namespace = Polycache::Redis::Namespace
end
