# frozen_string_literal: true

require_relative "queue"

module Polycache
  module Memory
    # Evicts the entry that was used longest ago. Every hit changes the order, so every hit takes
    # the lock.
    class Lru
      # Whether it has to be told of every hit; otherwise a hit sets +marked+.
      def ordered? = true

      # @yieldparam entry [Entry] one that leaves, taken out of its queue already
      def initialize(&leave)
        @leave = leave
        @used = Queue.new
      end

      def arrive(_key, _full) = nil
      def add(entry) = @used.push(entry)
      def hit(entry) = @used.requeue(entry)
      def remove(entry) = @used.remove(entry)

      def replace(entry, other)
        @used.remove(entry)
        @used.push(other)
      end

      def evict
        entry = @used.oldest
        @used.remove(entry)
        @leave.call(entry)
      end

      # @api private the queues, for tests
      def queues = [@used]
    end
  end
end
