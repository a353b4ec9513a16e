# frozen_string_literal: true

# redis-client-namespace as a middleware of redis-client: its own form.

require "namespace_subject"
require "redis_client_commands"
require "redis-client-namespace"

class WithRedisClientNamespace < NamespaceSubject
  def name = "redis-client-namespace"
  def versions = { "redis-client-namespace (checkout)" => RedisClient::Namespace::VERSION }
  def prefixes? = true
  def sits_on = "redis-client"

  def commands(options, data)
    client = RedisClient.new(
      middlewares: [RedisClient::Namespace::Middleware], custom: { namespace: namespace }, **options
    )
    RedisClientCommands.new(client, data)
  end
end

Subject.serve(WithRedisClientNamespace)
