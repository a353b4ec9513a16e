# frozen_string_literal: true

require "redis"

require_relative "../redis_namespace"
require_relative "words"
require_relative "../version"
require_relative "redis_rb/options"
require_relative "redis_rb/pipeline"
require_relative "redis_rb/subscription"

module Polycache
  module Redis
    # A Redis with all keys, patterns and channels in a namespace; for redis-rb 5. It has every
    # command of redis-rb and the methods of the redis-namespace gem, so changing the constant
    # migrates; each reads the data of the other.
    #
    #   redis = Polycache::Redis::Namespace.new(:shop, redis: Redis.new)
    #   redis.set("a", 1)                # SET shop:a 1
    #   redis.namespace("eu") { |eu| eu.keys }
    #
    # What redis-namespace passes on, with or without a warning, raises here: unknown commands
    # (UnknownCommand) and those that touch the whole server (CommandNotAllowed), unless they are in
    # `allow`.
    class Namespace
      include ::Redis::Commands

      # Keys that are unlinked at once.
      BATCH = RedisNamespace::Scope::BATCH

      TRANSACTIONS = ObjectSpace::WeakMap.new
      private_constant :TRANSACTIONS

      # @return [Redis, ConnectionPool, Namespace] the client that sends commands
      attr_reader :redis

      # @param namespace [String, Symbol, Array, Proc] a Proc is called at every command
      # @param options [Hash] as keywords, or as redis-namespace's users may write them
      # @option options [Redis, ConnectionPool, Namespace] :redis a Redis of its own by default
      # @option options [String] :separator the text behind the namespace, a colon by default
      # @option options [Array<String>] :allow commands that pass unchanged
      # @option options [Hash] :commands where further commands have their keys (RedisNamespace)
      # @option options [Boolean] :warning accepted as redis-namespace does; without effect
      # @option options [Boolean] :deprecations for compatibility with redis-namespace
      # @raise [InvalidArgument] an option is wrong or unknown
      def initialize(namespace, options = {})
        options = Options.new(options)
        @redis = options.redis || ::Redis.new
        @pool = @redis.respond_to?(:checkout)
        @genuine = @redis.is_a?(::Redis) || @redis.is_a?(Namespace)
        @table = options.table
        @warning = options.warning?
        @deprecations = options.deprecations?
        self.namespace = namespace
      end

      attr_accessor :warning
      alias warning? warning

      def deprecations? = @deprecations

      # The namespace, or with a block: yields a Namespace beside this one.
      def namespace(desired = nil)
        yield beside(desired) if desired
        @namespace.respond_to?(:call) ? @namespace.call : @namespace
      end

      def namespace=(namespace)
        @namespace = namespace
        options = { namespace: namespace, **@table }
        @session = RedisNamespace::Session.new(options, transaction) do |words|
          target { |redis| redis.call(*words) }
        end
      end

      # With those of the namespaces around it.
      # @return [String]
      def full_namespace
        @redis.is_a?(Namespace) ? "#{@redis.full_prefix}#{own_namespace}" : own_namespace
      end

      # Removes every key of the namespace, a batch at a time; keys written meanwhile may stay. It
      # walks through the whole database.
      def clear
        flushdb
        nil
      end

      def keys(pattern = nil) = super(pattern || "*")

      # @yield [pipeline] commands that are sent together
      # @return [Array] their replies
      def pipelined(**options)
        sent = nil
        target do |redis|
          redis.pipelined(**options) do |inner|
            pipeline = Pipeline.new(inner, @session, self)
            yield pipeline
            sent = pipeline
          end
        end
      rescue StandardError
        sent&.unseen
        raise
      end

      # @yield [transaction] commands that the server runs as one
      # @return [Array, nil] their replies; nil when a watched key had changed
      def multi
        target do |redis|
          redis.multi { |inner| yield Pipeline.new(inner, @session, self, transaction: true) }
        end
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
      def disconnect! = target(&:disconnect!)
      def id = target(&:id)
      def _client = target(&:_client)
      alias client _client
      def without_reconnect(&block) = target { |redis| redis.without_reconnect(&block) }

      # @return [Hash] as of redis-rb, and the namespace
      def connection = target(&:connection).merge(namespace: namespace)

      def inspect
        "<#{self.class} v#{VERSION} with client v#{::Redis::VERSION} for " \
          "#{target(&:id)}/#{full_namespace}>"
      end
      alias to_s inspect

      # Ruby's own conversion methods (`Array(redis)`, `puts redis`) are not commands, though any
      # other name may be one.
      def respond_to_missing?(name, include_all = false)
        return super if name.start_with?("to_")

        RedisNamespace::CommandTable.default.known?(name) || super
      end

      def method_missing(name, *)
        return super unless name.start_with?("to_")

        ::BasicObject.instance_method(:method_missing).bind_call(self, name)
      end

      # @api private
      attr_reader :session

      # @api private
      def full_prefix = "#{@redis.full_prefix if @redis.is_a?(Namespace)}#{@session.prefix.text}"

      # Another namespace on the same Redis, with what is known of commands here.
      #
      # @api private
      def beside(namespace, redis = @redis) = self.class.new(namespace, redis: redis, **@table)

      private

      # All namespaces of a Redis send on its connection.
      def transaction
        TRANSACTIONS[@redis] ||= RedisNamespace::Transaction.new
      end

      def own_namespace = @session.prefix.namespace

      # The pool's or our own; a pool is recognized by its methods.
      def target(&block) = @pool ? @redis.with(&block) : yield(@redis)

      def over(redis) = redis.equal?(@redis) ? self : beside(@namespace, redis)

      def send_command(command, &block)
        words = @session.flat(command)
        if words
          return @redis.__send__(:send_command, words, &block) if @genuine

          return target { |redis| dispatch(redis, words, &block) }
        end

        reply = sent(command) { |redis, sent| dispatch(redis, sent) }
        block_given? ? yield(reply) : reply
      end

      def send_blocking_command(command, timeout)
        reply = sent(command) do |redis, words|
          next dispatch(redis, words) unless genuine?(redis)

          redis.__send__(:send_blocking_command, words, timeout)
        end
        block_given? ? yield(reply) : reply
      end

      # To a Redis through the method that its own methods use; the others would look at the words
      # again. A delegator or a double, which only behaves like a Redis, is called by its public
      # methods.
      def dispatch(redis, words, &block)
        return redis.__send__(:send_command, words, &block) if genuine?(redis)

        return redis.public_send(words[0].downcase, *words.drop(1)) unless redis.respond_to?(:call)

        reply = redis.call(*words)
        block ? block.call(reply) : reply
      end

      def genuine?(redis) = redis.is_a?(::Redis) || redis.is_a?(Namespace)

      def sent(command)
        words = RedisNamespace::Words.of(command)
        @session.call_once(words) { target { |redis| yield redis, words } }
      end

      # Methods that redis-rb's own methods send through, too.
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
