# frozen_string_literal: true

require_relative "../../redis_namespace"

module Polycache
  module Reads
    module Ways
      # A command that a client has made, and not sent: its words, as the server gets them, and what
      # makes the client's form of the reply; nil for the reply itself.
      Prepared = Struct.new(:words, :transform) do
        def reply(raw) = transform ? transform.call(raw) : raw
      end

      # What the clients of redis-client have in common, and so redis-rb.
      class Common
        # The client that was given, and one that has a connection.
        attr_reader :client, :within

        def initialize(client, within)
          @client = client
          @within = within
          @config = config
          # The middleware puts prefixes on by the same.
          @session = RedisNamespace::Session.new(@config.custom) if middleware?
          @shape = [kind, @config.protocol, *middlewares].join(" ")
        end

        # What other clients' replies are told from.
        def shape(method) = "#{@shape} #{method}"

        # Sends a read and what is asked before and after it, in one round trip on one connection.
        #
        # @param before [Array<Array<String>>] commands whose keys have their prefixes
        # @param after [Array<String>, nil] another one
        # @return [(Array, Object, Object)] the replies, errors among them; that of the read is in
        #   the client's form
        # @raise the error of the read, or of the connection, as the client raises it
        def exchange(before, prepared, after)
          commands = [*before, prepared.words, *([after] if after)]
          replies = pipelined(commands.map { |words| [Prefixed.new(words[0]), *words.drop(1)] })
          raw = replies[before.size]
          raise_as_client(raw) if raw.is_a?(::RedisClient::Error)
          [replies.first(before.size), prepared.reply(raw), after && replies.last]
        end

        # One server has all keys.
        def check_keys(_name, _keys) = nil

        # A key as the server gets it.
        #
        # @return [String]
        def key(key)
          prepared = redis_rb? ? prepare(:get, [key], {}) : prepare(:call, ["GET", key], {})
          prepared.words[1]
        end

        # @return [Boolean] whether the namespace is asked for at every command
        def dynamic? = !(@session.nil? || @session.fixed?)

        # What the keys of this moment begin with; nil outside namespaces.
        def scope = @session&.prefix&.text

        private

        def middleware? = @config.middlewares_stack.ancestors.include?(RedisNamespace)

        # Which may change replies.
        def middlewares
          stack = @config.middlewares_stack.ancestors
          stack.take_while { |one| one != ::RedisClient::BasicMiddleware }.filter_map(&:name)
        end

        # With the prefixes that the middleware would put on.
        def prefixed(words, transform)
          return Prepared.new(words, transform) unless @session

          taken_off = @session.rewrite(words)
          Prepared.new(words, transform ? taken_off >> transform : taken_off)
        end
      end

      # The name of a command whose keys have their prefixes: the middleware leaves it alone.
      Prefixed = RedisNamespace::Prefixed
    end
  end
end
