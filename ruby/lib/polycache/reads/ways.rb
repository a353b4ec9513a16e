# frozen_string_literal: true

require_relative "../errors"
require_relative "ways/cluster"
require_relative "ways/redis_cluster"
require_relative "ways/redis_client"
require_relative "ways/redis_rb"

module Polycache
  module Reads
    # How clients make and send commands. A way has one connection at a time for all commands of a
    # read: what answers the last of them has answered all.
    module Ways
      module_function

      # @return [RedisRb, RedisClient, RedisCluster, Cluster]
      # @raise [InvalidArgument] for a client whose replies cannot be cached, with the reason
      def of(client)
        return Cluster.new(client) if client.class.ancestors.any? { |one| cluster?(one) }

        within = innermost(client)
        names = within.class.ancestors.map(&:name)
        refuse_others(names, within)
        return cluster_of(client, within) if names.include?("Redis::Cluster")
        return RedisRb.new(client, within) if names.include?("Redis")
        return RedisClient.new(client, within) if
          names.include?("RedisClient") || names.include?("RedisClient::Pooled")

        refuse("takes a Redis of redis-rb 5, a RedisClient, a pool of them or a namespace of one " \
               "of them, not an object of the class #{client.class}")
      end

      # @return [Boolean] whether a client raised it, of the server or the connection
      def error?(error)
        error.is_a?(::RedisClient::Error) ||
          (!defined?(::Redis::BaseError).nil? && error.is_a?(::Redis::BaseError))
      end

      # The client that has the connection, of a pool one of them.
      def innermost(client)
        client = client.redis while namespace?(client)
        return client unless pool?(client)

        within = client.with { |one| one }
        return within unless namespace?(within)

        refuse("takes no pool of namespaces: give it a namespace of the pool")
      end

      # By its name: a program that has no namespaces does not load their class.
      def namespace?(client)
        client.class.ancestors.any? { |one| one.name == "Polycache::Redis::Namespace" }
      end

      # Of redis-cluster-client.
      def cluster?(one) = one.name == "RedisClient::Cluster"

      # A ConnectionPool, which is recognized by its methods.
      def pool?(client) = client.respond_to?(:checkout) && client.respond_to?(:with)

      def refuse_others(names, client)
        if names.include?("Redis::Distributed")
          refuse("takes no Redis::Distributed: give it the Redis of one server")
        elsif names.include?("RedisClient::Decorator::Client")
          refuse("takes no decorated RedisClient, whose methods it does not know: give it the " \
                 "client within")
        elsif names.include?("Redis") && !of_redis_client?(client._client)
          refuse("takes redis-rb 5, which is made of redis-client, and not redis-rb " \
                 "#{::Redis::VERSION}")
        end
      end

      def of_redis_client?(within)
        within.is_a?(::RedisClient) || within.class.ancestors.any? { |one| cluster?(one) }
      end

      def cluster_of(client, within)
        return RedisCluster.new(within) if client.equal?(within)

        refuse("takes no pool and no namespace of a Redis::Cluster: threads may share one")
      end

      def refuse(why)
        raise InvalidArgument, "cached #{why}"
      end

      private_class_method :innermost, :cluster?, :pool?, :refuse_others, :of_redis_client?,
                           :cluster_of
    end
  end
end
