# frozen_string_literal: true

require "redis"

module Polycache
  module Reads
    module Ways
      # Takes the place of a connection of redis-rb, and notes what a method would send.
      class Recorder
        include ::Redis::Commands

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
