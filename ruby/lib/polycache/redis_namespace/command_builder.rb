# frozen_string_literal: true

require "redis_client"

require_relative "session"

module Polycache
  module RedisNamespace
    # Puts prefixes on where commands are built, for what has to know the real keys before a
    # connection is chosen: redis-cluster-client. It cannot take them off replies.
    #
    #   builder = Polycache::RedisNamespace::CommandBuilder.new(namespace: "shop")
    #   RedisClient.cluster(command_builder: builder)
    class CommandBuilder
      # @param options [Hash] namespace, and optionally separator, allow and commands (see RedisNamespace)
      # @param builder [#generate] what makes words of arguments
      def initialize(builder: ::RedisClient::CommandBuilder, **options)
        @builder = builder
        @session = Session.new(options)
      end

      # @return [Array<String>] the command's words, with prefixes
      def generate(arguments, keywords = nil)
        words = @builder.generate(arguments, keywords)
        @session.rewrite(words)
        words
      end
    end
  end
end
