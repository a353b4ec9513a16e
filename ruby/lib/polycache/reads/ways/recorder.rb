# frozen_string_literal: true

require "redis"
require_relative "../../redis_namespace/words"

module Polycache
  module Reads
    module Ways
      # Takes the place of a connection of redis-rb, and notes what a method would send.
      class Recorder
        include ::Redis::Commands

        # @yieldparam recorder [Recorder]
        # @yieldreturn [Object] what makes the command, over the recorder. Default: the recorder.
        # @return [(Array<String>, Proc)] the words that a method of redis-rb sends, and what makes
        #   its form of the reply
        # @raise [InvalidArgument]
        def self.record(method, args, options)
          recorder = new
          makes = block_given? ? yield(recorder) : recorder
          makes.public_send(method, *args, **options)
          command, block = recorder.recorded
          raise InvalidArgument, "#{method} sends no command" unless command

          [RedisNamespace::Words.of(command), block]
        end

        # @return [(Array, Proc), nil] a command, its words of any kind, and what makes redis-rb's
        #   form of the reply
        attr_reader :recorded

        private

        def synchronize = yield(self)

        def send_command(command, &block)
          @recorded = [command, block]
          nil
        end

        def send_blocking_command(command, _timeout, &block) = send_command(command, &block)
      end
    end
  end
end
