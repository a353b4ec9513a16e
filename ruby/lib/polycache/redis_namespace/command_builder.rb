# frozen_string_literal: true

require "redis_client"

require_relative "../redis_namespace"

module Polycache
  module RedisNamespace
    # Puts prefixes on where commands are built, for clients that need the real keys before they
    # choose a connection: redis-cluster-client (RedisNamespace.cluster). It cannot take them off
    # replies.
    class CommandBuilder
      # A word that has its prefix already: redis-cluster-client takes a command apart by slots, and
      # builds other commands of the parts.
      class Prefixed < String
      end
      private_constant :Prefixed

      # @param options [Hash] namespace, and optionally separator, allow and commands (see
      #   RedisNamespace)
      # @param builder [#generate] what makes words of arguments
      def initialize(builder: ::RedisClient::CommandBuilder, **options)
        @builder = builder
        @session = Session.new(options)
      end

      # @return [Array<String>] the command's words, with prefixes
      def generate(arguments, keywords = nil)
        words = @builder.generate(arguments, keywords)
        return words if words.any?(Prefixed)

        before = words.dup
        @session.rewrite(words)
        words.each_index { |at| words[at] = Prefixed.new(words[at]) if words[at] != before[at] }
        words
      end
    end
  end
end
