# frozen_string_literal: true

require "redis_client"

module Polycache
  module RedisNamespace
    # The words that redis-client's command builder makes of a command, a name and arguments of any
    # kind. A command with one word for each argument, as nearly all have, is made here at a
    # fraction of the cost; the builder makes the others.
    module Words
      module_function

      # @param command [Array] stays as it is
      # @return [Array<String>] a new list
      # @raise [TypeError, ArgumentError] as of redis-client
      def of(command)
        words = [*command]
        index = 0
        size = words.size
        while index < size
          word = words[index]
          unless word.is_a?(String)
            return ::RedisClient::CommandBuilder.generate(command) unless single?(word)

            words[index] = word.to_s
          end
          index += 1
        end
        size == 0 ? ::RedisClient::CommandBuilder.generate(command) : words
      end

      # Whether an argument is one word.
      def single?(word) = word.is_a?(Symbol) || word.is_a?(Integer) || word.is_a?(Float)
    end
  end
end
