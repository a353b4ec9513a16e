# frozen_string_literal: true

require_relative "../errors"
require_relative "duration"

module Polycache
  module Memory
    # How long entries live if their writes do not say: the options +ttl+ and +jitter+. The jitter
    # shortens it, at random for each write, so that entries written together do not expire together
    # and are not loaded again all at once.
    class Lifetime
      # @return [Integer, nil] milliseconds at most; nil is for ever
      attr_reader :longest
      # @return [Integer] milliseconds by which it may be shorter
      attr_reader :spread

      # @param ttl [String, Numeric, nil] a duration
      # @param jitter [String, Numeric, nil] a number from 0 to below 1 is a part of +ttl+; else a
      #   duration below it
      # @param random [#rand] +rand(n)+ returns 0 to n - 1, evenly distributed
      # @raise [InvalidArgument]
      def initialize(ttl, jitter, random = Random)
        @longest = ttl && Duration.milliseconds("ttl", ttl)
        @spread = jitter.nil? ? 0 : milliseconds(jitter)
        @random = random
      end

      # @return [Integer, nil] the time to live of the next write
      def next = @spread.zero? ? @longest : @longest - @random.rand(@spread + 1)

      private

      def milliseconds(jitter)
        raise InvalidArgument, "a jitter needs a ttl, which it shortens" unless @longest

        return (@longest * jitter).floor if part?(jitter)

        if jitter == 1
          raise InvalidArgument,
                "jitter 1 may mean one second, or all of the ttl: write \"1s\" for one second, " \
                "or a number below 1, like 0.9, for a part of the ttl"
        end

        found = Duration.milliseconds("jitter", jitter)
        return found if found < @longest

        raise InvalidArgument,
              "jitter is a part of the ttl (a number from 0 to below 1) or a duration below it, " \
              "not #{jitter.inspect}"
      end

      # Numbers without an order (Complex) are left to Duration, which refuses them.
      def part?(jitter)
        jitter.is_a?(Numeric) && jitter.real? && jitter >= 0 && jitter < 1
      end
    end
  end
end
