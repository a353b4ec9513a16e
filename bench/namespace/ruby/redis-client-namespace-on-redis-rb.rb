# frozen_string_literal: true

# redis-client-namespace as a middleware of redis-rb: what its page measured.

require "namespace_subject"
require "redis_rb_commands"
require "redis"
require "redis-client-namespace"

class WithRedisClientNamespaceOnRedisRb < NamespaceSubject
  def name = "redis-client-namespace-on-redis-rb"
  def versions = { "redis-client-namespace (checkout)" => RedisClient::Namespace::VERSION }
  def prefixes? = true
  def sits_on = "redis-rb"

  def commands(options, data)
    redis = Redis.new(
      middlewares: [RedisClient::Namespace::Middleware], custom: { namespace: namespace }, **options
    )
    RedisRbCommands.new(redis, data)
  end
end

Subject.serve(WithRedisClientNamespaceOnRedisRb)
