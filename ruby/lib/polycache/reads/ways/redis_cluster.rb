# frozen_string_literal: true

require_relative "cluster"

module Polycache
  module Reads
    module Ways
      # A Redis::Cluster of the gem redis-clustering: redis-rb's methods over a client of
      # redis-cluster-client, which it holds.
      class RedisCluster < Cluster
        def initialize(redis)
          require_relative "recorder"
          @redis = redis
          super(redis._client)
        end

        def redis_rb? = true
        def key(key) = prepare(:get, [key], {}).words[1]

        # @param method [Symbol] of redis-rb
        def prepare(method, args, options)
          Prepared.new(*Recorder.record(method, args, options))
        end

        def exchange(...)
          super
        rescue ::RedisClient::Error => e
          # Of what is below the client that translates its own.
          raise_as_client(e)
        end

        private

        # Both have the same forms of replies.
        def kind = "redis-rb #{::Redis::VERSION}"

        # The one that its own methods take.
        def monitor = @redis.instance_variable_get(:@monitor)

        def identity(words)
          super
        rescue ::Redis::BaseError
          nil
        end

        def raise_as_client(error) = @client.class.translate_error!(error)
      end
    end
  end
end
