# frozen_string_literal: true

require_relative "command_builder"

module Polycache
  # The options of a cluster's client inside a namespace.
  module RedisNamespace
    # Options for redis-cluster-client. Commands get their prefixes where they are built, because
    # the node is chosen by the key. A middleware of the nodes' clients takes them off the replies.
    #
    #   require "polycache/redis_namespace/cluster"
    #   RedisClient.cluster(nodes: nodes, **Polycache::RedisNamespace.cluster(namespace: "shop"))
    #
    # @param options [Hash] namespace, and optionally separator, allow and commands
    # @return [Hash] options of RedisClient.cluster
    def self.cluster(**options)
      { command_builder: CommandBuilder.new(**options), middlewares: [Cluster], custom: options }
    end

    # The middleware of a node's client: words have their prefixes already.
    module Cluster
      def initialize(client)
        super
        @redis_namespace = Session.new(client.config.custom)
        client.extend(Subscribing)
        client.redis_namespace = @redis_namespace
      end

      def connect(config)
        @redis_namespace.reset
        super
      end

      def call(command, config)
        @redis_namespace.call_prefixed(command) { super }
      end

      def call_pipelined(commands, config)
        @redis_namespace.call_pipelined_prefixed(commands) { super }
      end

      # Subscriptions of a node's client; their channels have their prefixes already.
      module Subscribing
        attr_writer :redis_namespace

        def pubsub = PubSub.new(super, @redis_namespace)

        # The messages lose them.
        class PubSub < RedisNamespace::Subscribing::PubSub
          def call_v(command) = __getobj__.call_v(command)
        end
      end
    end
  end
end
