# frozen_string_literal: true

require "redis"

require_relative "../redis_namespace/session"
require_relative "../redis_namespace/subscribing"
require_relative "../redis_namespace/words"
require_relative "namespace/pipeline"
require_relative "namespace/subscription"

module Polycache
  module Redis
    # A Redis whose keys, patterns and channels all lie in a namespace; for redis-rb 5. It has every
    # command of redis-rb and the methods of the redis-namespace gem, so that changing the constant
    # migrates; data written by either is read by the other.
    #
    #   redis = Polycache::Redis::Namespace.new(:shop, redis: Redis.new)
    #   redis.set("a", 1)                # SET shop:a 1
    #   redis.namespace("eu") { |eu| eu.keys }
    #
    # What redis-namespace passes on with a warning, or without one, raises here: commands that are
    # not known (UnknownCommand) or touch the whole server (CommandNotAllowed), unless they are in
    # `allow`.
    class Namespace
      include ::Redis::Commands

      # Keys that are unlinked at once.
      BATCH = RedisNamespace::Scope::BATCH

      # @return [Redis, ConnectionPool, Namespace] what commands are sent through
      attr_reader :redis

      # @param namespace [String, Symbol, Array, Proc] a Proc is asked at every command
      # @param redis [Redis, ConnectionPool, Namespace] a Redis of its own by default
      # @param allow [Array<String>] commands that pass as they are
      # @param commands [Hash] where further commands have their keys (see RedisNamespace)
      # @param warning accepted for redis-namespace's sake; there is nothing to warn of
      # @param deprecations accepted for redis-namespace's sake
      def initialize(namespace, redis: nil, allow: nil, commands: nil, warning: nil,
                     deprecations: nil)
        @redis = redis || ::Redis.new
        @pool = @redis.respond_to?(:checkout)
        @table = { allow: allow, commands: commands }.compact
        @warning = warning
        @deprecations = deprecations
        self.namespace = namespace
      end

      attr_accessor :warning
      alias warning? warning

      def deprecations? = !!@deprecations

      # The namespace, or with a block: yields a Namespace that lies beside this one.
      def namespace(desired = nil)
        yield self.class.new(desired, redis: @redis, **@table) if desired
        @namespace.respond_to?(:call) ? @namespace.call : @namespace
      end

      def namespace=(namespace)
        @namespace = namespace
        @session = RedisNamespace::Session.new({ namespace: namespace, **@table }) do |words|
          target { |redis| redis.call(*words) }
        end
      end

      # With those of the namespaces around it.
      # @return [String]
      def full_namespace
        own = @session.prefix.text.chomp(":")
        @redis.is_a?(Namespace) ? "#{@redis.full_namespace}:#{own}" : own
      end

      # Removes every key of the namespace, a batch at a time; what is written meanwhile may stay.
      # Costs a walk through the whole database.
      def clear
        flushdb
        nil
      end

      def keys(pattern = nil) = super(pattern || "*")

      # @yield [pipeline] commands that are sent together
      # @return [Array] their replies
      def pipelined(**options)
        target do |redis|
          redis.pipelined(**options) do |inner|
            yield Pipeline.new(inner, @session)
          end
        end
      end

      # @yield [transaction] commands that the server runs as one
      # @return [Array, nil] their replies; nil when a watched key had changed
      def multi
        target { |redis| redis.multi { |inner| yield Pipeline.new(inner, @session) } }
      end

      def watch(*keys)
        names = keys.flatten.map { |key| @session.prefix.key(key.to_s) }
        target do |redis|
          next redis.watch(*names) unless block_given?

          redis.watch(*names) { yield over(redis) }
        end
      end

      # Yields this namespace on one connection of a pool.
      def with = target { |redis| yield over(redis) }

      def subscribed? = target(&:subscribed?)
      def connected? = target(&:connected?)
      def close = target(&:close)
      alias disconnect! close
      def id = target(&:id)
      def _client = target(&:_client)
      alias client _client
      def without_reconnect(&block) = target { |redis| redis.without_reconnect(&block) }

      # @return [Hash] as of redis-rb, and the namespace
      def connection = target(&:connection).merge(namespace: namespace)

      def inspect = "#<#{self.class} #{full_namespace.inspect} on #{target(&:id)}>"

      private

      # The pool's or our own; a pool is known by what it does.
      def target(&block) = @pool ? @redis.with(&block) : yield(@redis)

      def over(redis)
        if redis.equal?(@redis)
          self
        else
          self.class.new(@namespace, redis: redis,
                                     **@table)
        end
      end

      def send_command(command, &block)
        words = @session.flat(command)
        if words
          return @redis.__send__(:send_command, words, &block) unless @pool

          return target { |redis| redis.__send__(:send_command, words, &block) }
        end

        reply = sent(command) { |redis, sent| redis.__send__(:send_command, sent) }
        block_given? ? yield(reply) : reply
      end

      def send_blocking_command(command, timeout)
        reply = sent(command) do |redis, words|
          redis.__send__(:send_blocking_command, words, timeout)
        end
        block_given? ? yield(reply) : reply
      end

      def sent(command)
        words = RedisNamespace::Words.of(command)
        @session.call_once(words) { target { |redis| yield redis, words } }
      end

      # What redis-rb's own methods send through, besides.
      def synchronize = yield(Client.new(self, @session))

      def _subscription(method, timeout, channels, block)
        rewrite = method.start_with?("p") ? :channel_pattern : :channel
        prefix = @session.prefix
        names = channels.map { |name| prefix.public_send(rewrite, name.to_s) }
        on = block && proc { |subscription| block.call(Subscription.new(subscription, prefix)) }
        target { |redis| redis.send(:_subscription, method, timeout, names, on) }
      end

      # The few calls of a client that redis-rb makes itself (QUIT, MONITOR, SHUTDOWN).
      class Client
        def initialize(namespace, session)
          @namespace = namespace
          @session = session
        end

        def pubsub = RedisNamespace::Subscribing::PubSub.new(@namespace._client.pubsub, @session)

        def call_v(command) = @namespace.call(*command)
        def disable_reconnection = yield
        def close = @namespace.close
      end
      private_constant :Client
    end
  end
end
