# frozen_string_literal: true

# redis-client without a namespace: the limit for what is built on it.

require "namespace_subject"
require "redis_client_commands"

class BareRedisClient < NamespaceSubject
  def name = "redis-client"
  def versions = { "redis-client (gem)" => RedisClient::VERSION }
  def prefixes? = false
  def sits_on = "a socket, RESP3, no lock"

  def commands(options, data)
    RedisClientCommands.new(RedisClient.new(**options), data)
  end
end

Subject.serve(BareRedisClient)
