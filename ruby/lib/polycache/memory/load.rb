# frozen_string_literal: true

module Polycache
  module Memory
    # One load of a key, and those who wait for it. It knows nothing of whether its value is stored.
    class Load
      def initialize
        @thread = Thread.current
        @since = Load.now
        @lock = Mutex.new
        @done = ConditionVariable.new
        @state = :running
      end

      # Seconds on a clock that is never set.
      def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      # What was loaded, as the isolation keeps it.
      attr_reader :value, :plan

      # @return [Boolean] whether somebody works on it: not in a child of the process that did,
      #   not after its thread was killed, and not for longer than a load may take
      def alive?(seconds) = @thread.alive? && Load.now - @since < seconds

      # Ends it with a value.
      def succeed(value, plan)
        @value = value
        @plan = plan
        finish(:succeeded)
      end

      # Ends it without one, if it has not ended: whoever waits loads.
      def give_up = @state == :running && finish(:failed)

      # Waits without blocking other threads or, under a Fiber scheduler, other fibers.
      # @param seconds [Numeric] that a load may take
      # @return [Boolean] whether there is a value
      def wait(seconds)
        @lock.synchronize do
          while @state == :running
            left = @since + seconds - Load.now
            break unless left.positive? && @thread.alive?

            @done.wait(@lock, left)
          end
          @state == :succeeded
        end
      end

      private

      def finish(state)
        @lock.synchronize do
          @state = state
          @done.broadcast
        end
      end
    end
  end
end
