# frozen_string_literal: true

require_relative "lru"
require_relative "two_queue_clock"

module Polycache
  module Memory
    # Entries within bounds: a policy, what they weigh, and those that expire. The caller holds the
    # lock; nothing here runs code of users.
    class Store
      POLICIES = { "2q-clock" => TwoQueueClock, "lru" => Lru }.freeze
      # How many entries that may expire each write looks at. More than one, so that expired ones
      # are freed faster than others come in.
      LOOKS = 2
      private_constant :LOOKS

      # How many entries there are, and the bytes that they weigh.
      attr_reader :size, :bytes
      attr_reader :max_entries, :max_bytes, :policy

      # @param told [#call, nil] is given each entry that left, and why
      def initialize(max_entries, max_bytes, policy, told)
        @max_entries = max_entries
        @max_bytes = max_bytes
        @told = told
        @make = POLICIES.fetch(policy)
        start
      end

      # Removes everything, whatever state an interrupted change has left.
      def start
        @size = @bytes = 0
        @timed = {}.compare_by_identity
        @policy = @make.new { |entry| out(entry, :evicted) }
        @ordered = @policy.ordered?
      end

      # Adds an entry that is no heavier than the bound.
      def put(entry)
        old = entry.namespace.index[entry.key]
        if old && @bytes - old.bytes + entry.bytes <= @max_bytes
          @policy.replace(old, entry)
          out(old, :replaced, in_index: false)
        else
          # It might otherwise be evicted to make room for itself.
          remove(old, :replaced) if old
          make_room(entry)
          @policy.add(entry)
        end
        @size += 1
        @bytes += entry.bytes
        hold(entry)
      end

      # Puts an entry in the place of one with the same key, value and weight. Nothing has left, so
      # there is nothing to tell.
      def renew(old, entry)
        @policy.replace(old, entry)
        @timed.delete(old) if old.times
        hold(entry)
      end

      # How many entries there are while none that weighs as much as these do on average can come
      # in before something leaves; else 0.
      def held
        return @size if @size >= @max_entries

        @size.positive? && @bytes + (@bytes / @size) > @max_bytes ? @size : 0
      end

      # Takes out an entry that is here.
      def remove(entry, cause)
        @policy.remove(entry)
        out(entry, cause)
      end

      # An entry that is here was used.
      def hit(entry) = @ordered ? @policy.hit(entry) : entry.marked = true

      def ordered? = @ordered

      # Frees some of the expired entries: in turn, so all in the end.
      # @return [Integer] how many
      def sweep(now, looks = LOOKS)
        freed = 0
        [looks, @timed.size].min.times do
          entry, = @timed.shift
          if entry.over?(now)
            freed += 1
            remove(entry, :expired)
          else
            @timed[entry] = true
          end
        end
        freed
      end

      def timed? = !@timed.empty?
      # @return [Integer] how many have a time that may end
      def timed = @timed.size

      private

      def hold(entry)
        entry.plain = entry.plan.nil? && entry.times.nil? && !@ordered && entry.origin.nil?
        @timed[entry] = true if entry.times
        entry.namespace.index[entry.key] = entry
      end

      def make_room(entry)
        full = full?(entry)
        @policy.arrive(entry.key, full)
        @policy.evict while full?(entry)
      end

      def full?(entry) = @size >= @max_entries || @bytes + entry.bytes > @max_bytes

      # The policy no longer has it.
      def out(entry, cause, in_index: true)
        @size -= 1
        @bytes -= entry.bytes
        @timed.delete(entry) if entry.times
        entry.namespace.index.delete(entry.key) if in_index
        @told&.call(entry, cause)
      end
    end
  end
end
