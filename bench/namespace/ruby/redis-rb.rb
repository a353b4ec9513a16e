# frozen_string_literal: true

# redis-rb without a namespace: the limit for what is built on it.

require "namespace_subject"
require "redis_rb_commands"
require "redis"

class BareRedisRb < NamespaceSubject
  def name = "redis-rb"
  def versions = { "redis (gem)" => Redis::VERSION }
  def prefixes? = false
  def sits_on = "redis-client, RESP2, a lock around each call"

  def commands(options, data)
    RedisRbCommands.new(Redis.new(**options), data)
  end
end

Subject.serve(BareRedisRb)
