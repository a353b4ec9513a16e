# frozen_string_literal: true

# Ours as a middleware of redis-client.

require "namespace_subject"
require "redis_client_commands"
require "polycache/redis_namespace"

class WithPolycacheNamespace < NamespaceSubject
  def name = "polycache-namespace"
  def versions = {}
  def prefixes? = true
  def sits_on = "redis-client"

  def commands(options, data)
    client = RedisClient.new(
      middlewares: [Polycache::RedisNamespace], custom: { namespace: namespace }, **options
    )
    RedisClientCommands.new(client, data)
  end
end

Subject.serve(WithPolycacheNamespace)
