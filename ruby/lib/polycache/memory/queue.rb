# frozen_string_literal: true

module Polycache
  module Memory
    # A queue of entries, linked through them: one joins as the newest, and leaves from anywhere.
    class Queue
      # How many, and the one that waited longest (or nil).
      attr_reader :size, :oldest

      def initialize
        @size = 0
        @oldest = @newest = nil
      end

      def push(entry)
        entry.queue = self
        entry.newer = nil
        entry.older = newest = @newest
        newest ? newest.newer = entry : @oldest = entry
        @newest = entry
        @size += 1
      end

      def remove(entry)
        older = entry.older
        newer = entry.newer
        older ? older.newer = newer : @oldest = newer
        newer ? newer.older = older : @newest = older
        entry.queue = entry.older = entry.newer = nil
        @size -= 1
      end

      # Puts an entry where another stands.
      def replace(entry, other)
        other.queue = self
        other.older = older = entry.older
        other.newer = newer = entry.newer
        older ? older.newer = other : @oldest = other
        newer ? newer.older = other : @newest = other
        entry.queue = entry.older = entry.newer = nil
      end

      # Makes an entry the newest.
      def requeue(entry)
        return if entry.equal?(@newest)

        remove(entry)
        push(entry)
      end

      # From the oldest to the newest.
      def each
        entry = @oldest
        while entry
          yield entry
          entry = entry.newer
        end
      end
    end
  end
end
