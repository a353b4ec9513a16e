# frozen_string_literal: true

# redis-namespace, which wraps redis-rb's methods.

require "namespace_subject"
require "redis_rb_commands"
require "redis-namespace"

class WithRedisNamespace < NamespaceSubject
  def name = "redis-namespace"
  def versions = { "redis-namespace (gem)" => Redis::Namespace::VERSION }
  def prefixes? = true
  def sits_on = "redis-rb"

  def commands(options, data)
    RedisRbCommands.new(Redis::Namespace.new(namespace, redis: Redis.new(**options)), data)
  end
end

Subject.serve(WithRedisNamespace)
