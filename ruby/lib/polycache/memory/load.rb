# frozen_string_literal: true

require_relative "../flight"

module Polycache
  module Memory
    # One load of a key in memory, in the list of those that may fill it: the newest, and behind it
    # older ones, which took too long. The caller holds the lock.
    class Load
      # The next older load of the key.
      attr_accessor :older
      # What it brought, if anything.
      attr_accessor :landed
      # @return [Boolean] whether it was listed
      attr_reader :begun

      def initialize
        @begun = false
        @older = @landed = nil
        @thread = Thread.current
        @fiber = Fiber.current
        @process = Process.pid
        @since = Flight.now
        @join = nil
      end

      # Lists it.
      #
      # @param older [Load, nil]
      # @return [Load]
      def begin(older)
        @older = older
        @begun = true
        self
      end

      # The callers that joined, if any.
      def flight = @join

      # @return [Flight] to join
      def join = @join ||= Flight.new

      # @return [Boolean] whether a thread works on it: false in a forked child, and after the
      #   thread was killed
      def alive? = @thread.alive? && @process == Process.pid

      # @return [Numeric] seconds that others may still wait for it
      def left(lease_timeout) = alive? ? @since + lease_timeout - Flight.now : 0

      # @param scheduled [Boolean] whether the thread's other fibers go on while one waits
      # @return [Boolean] whether it would wait for itself
      def own?(scheduled)
        alive? && (scheduled ? @fiber.equal?(Fiber.current) : @thread.equal?(Thread.current))
      end

      # This one and those behind it.
      def each
        load = self
        while load
          yield load
          load = load.older
        end
      end
      include Enumerable
    end
  end
end
