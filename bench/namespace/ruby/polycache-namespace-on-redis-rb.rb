# frozen_string_literal: true

# Ours as redis-namespace has it, around redis-rb.

require "namespace_subject"
require "redis_rb_commands"
require "polycache/redis_namespace/redis_rb"

class WithPolycacheOnRedisRb < NamespaceSubject
  def name = "polycache-namespace-on-redis-rb"
  def versions = {}
  def prefixes? = true
  def sits_on = "redis-rb"

  def commands(options, data)
    redis = ::Redis.new(**options)
    RedisRbCommands.new(Polycache::Redis::Namespace.new(namespace, redis: redis), data)
  end
end

Subject.serve(WithPolycacheOnRedisRb)
