# frozen_string_literal: true

require_relative "ghosts"
require_relative "queue"

module Polycache
  module Memory
    # 2Q-CLOCK (spec/eviction.md). New keys enter a small FIFO queue, whose share adapts. Those
    # that are asked for there, and those that come back soon after they left it, challenge the
    # oldest of the main queue, a CLOCK that counts: it goes only if it has been idle for longer
    # than the challenger was away. A hit sets +marked+, nothing else.
    class TwoQueueClock
      # The small queue's goal is counted in these parts of an entry.
      PARTS = 25
      # The goal's bounds and where it begins, as divisors of the entries: 1 %, 10 %, 2 %.
      LEAST = 100
      MOST = 10
      START = 50
      # Keys that left the small queue are remembered for so many further ones, times the entries.
      GHOSTS = 2
      # Entries that one challenge looks at.
      STEPS = 6
      MOST_COUNTED = 7
      # What a challenger beats: an entry that is not marked and counts less.
      OF_MARKED = 1
      OF_GHOST = 2
      private_constant(*constants(false))

      def ordered? = false

      # @yieldparam entry [Entry] one that leaves, taken out of its queue already
      def initialize(&leave)
        @leave = leave
        @small = Queue.new
        @main = Queue.new
        @ghosts = Ghosts.new
        @insertions = 0
        @goal = nil
        @enters = @small
      end

      # A key that is not here is about to come in; +full+ when others have to make room for it.
      def arrive(key, full)
        @insertions += 1
        @enters = @small
        born = @ghosts.recall(key.hash, GHOSTS * size)
        @enters = @main if full && born && challenge(@insertions - born, OF_GHOST)
      end

      # The key that arrived has its entry now.
      def add(entry) = enter(@enters, entry)

      def remove(entry) = entry.queue.remove(entry)

      # Another value for a key that is here.
      def replace(entry, other)
        other.count = entry.count
        other.seen = entry.seen
        other.marked = true
        entry.queue.replace(entry, other)
      end

      # An entry leaves, or one goes from the small to the main queue.
      def evict
        return if @small.size < goal_of_small && challenge(0, OF_MARKED)

        entry = @small.oldest
        # All entries looked at are to stay, but one has to go.
        return leave(@main.oldest) unless entry

        marked = entry.marked
        move_goal(PARTS) if marked
        if @small.size > goal_of_small || (marked && challenge(0, OF_MARKED))
          @small.remove(entry)
          entry.marked = false
          return enter(@main, entry)
        end
        @ghosts.bury(entry.key.hash, entry.seen, GHOSTS * size)
        move_goal(-1)
        leave(entry)
      end

      # @api private the queues, for tests
      def queues = [@small, @main]

      private

      def size = @small.size + @main.size

      def enter(queue, entry)
        entry.count = 0
        entry.seen = @insertions
        queue.push(entry)
      end

      def leave(entry)
        entry.queue.remove(entry)
        @leave.call(entry)
      end

      # True when an entry has left the main queue for a challenger that was away so long.
      def challenge(away, strength)
        STEPS.times do
          entry = @main.oldest
          return false if entry.nil? || @insertions - entry.seen < away

          entry.seen = @insertions
          if entry.marked
            entry.marked = false
            entry.count += 1 if entry.count < MOST_COUNTED
          elsif entry.count >= strength
            entry.count -= 1
          else
            leave(entry)
            return true
          end
          @main.requeue(entry)
        end
        false
      end

      # Entries that the small queue should have.
      def goal_of_small
        move_goal(0)
        @goal / PARTS
      end

      def move_goal(parts)
        entries = size
        goal = (@goal || share(entries, START)) + parts
        @goal = goal.clamp(share(entries, LEAST), share(entries, MOST))
      end

      # In parts; one entry at least.
      def share(entries, divisor) = [entries * PARTS / divisor, PARTS].max
    end
  end
end
