# frozen_string_literal: true

require_relative "errors"
require_relative "remote_client/cluster"
require_relative "remote_client/redis_client"
require_relative "remote_client/redis_rb4"

module Polycache
  # What a client of the gems redis-client and redis was told: where the servers are, and who it is
  # there. The extension makes connections of its own by it, so the client's are neither used nor
  # changed. Clients are known by the names of their classes: no gem is loaded here.
  module RemoteClient
    KINDS = {
      "RedisClient::Config" => RedisClient.method(:server),
      "RedisClient::SentinelConfig" => RedisClient.method(:sentinel),
      "RedisClient::ClusterConfig" => Cluster.method(:redis_client),
      # Since redis-rb 5 these are made of redis-client's.
      "Redis::Client" => RedisRb4.method(:server),
      "Redis::Cluster" => Cluster.method(:redis_rb4)
    }.freeze
    # What has a configuration.
    HOLDERS = %w[
      RedisClient RedisClient::Pooled RedisClient::Cluster RedisClient::Decorator::Client
    ].freeze
    # A client of which the namespace is left out of account: what is to be sent has its prefixes,
    # or wants none.
    Namespaced = Struct.new(:client)
    private_constant :KINDS, :HOLDERS

    module_function

    # @param client [Object]
    # @return [Hash] what ext/polycache/src/remote.rs reads
    # @raise [InvalidArgument] for another object, and for settings that native connections cannot
    #   have
    def settings(client)
      held = configuration(client.is_a?(Namespaced) ? client.client : client)
      RedisClient.refuse_namespaces(held) unless client.is_a?(Namespaced)
      names = names_of(held)
      _, settings = KINDS.find { |name, _| names.include?(name) }
      return settings.call(held) if settings

      # Not by inspect: it may hold a password.
      raise InvalidArgument,
            "remote is the URL of a Redis or Valkey, like \"redis://localhost:6379/0\", or a " \
            "client: a RedisClient, its pool or its config, or a Redis; not an object of the " \
            "class #{client.class}"
    end

    def configuration(client)
      client = client._client if names_of(client).include?("Redis")
      return client unless names_of(client).intersect?(HOLDERS)

      # Older releases of redis-cluster-client do not show it.
      client.respond_to?(:config) ? client.config : client.instance_variable_get(:@config)
    end

    def names_of(object) = object.class.ancestors.map(&:name)

    private_class_method :configuration, :names_of
  end

  private_constant :RemoteClient
end
