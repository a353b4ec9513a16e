# frozen_string_literal: true

require_relative "times"

module Polycache
  module Memory
    # One entry. Its contents never change, so that a reader without a lock sees a value with its
    # own times and origin: another value for its key is another entry.
    class Entry
      # Frozen String, and the namespace that it is a key of.
      attr_reader :key, :namespace
      # What the isolation keeps, and how it is copied out; a plan of nil hands it out itself.
      attr_reader :value, :plan
      # What key, value and entry take.
      attr_reader :bytes
      # When it expires; nil is never.
      attr_reader :times
      # Milliseconds since 1970 at which it was written; nil where it is not needed.
      attr_reader :created
      # Where the host tier has it; nil without one.
      attr_reader :origin
      # Whether a hit has nothing to do but to set +marked+ and hand the value out.
      attr_accessor :plain
      # What the policy knows of it.
      attr_accessor :queue, :older, :newer, :marked, :count, :seen
      # A number that no other entry of the cache has; nil until it is asked for.
      attr_accessor :version

      # Not by keywords, which would be the slowest part here.
      def initialize(namespace, key, value, plan, bytes, times = nil, created = nil, origin = nil)
        @namespace = namespace
        @key = key
        @value = value
        @plan = plan
        @bytes = bytes
        @times = times
        @created = created
        @origin = origin
        @plain = @marked = false
        @count = @seen = 0
        @queue = @older = @newer = @version = nil
      end

      # The same value with another time to live, from now on.
      def renewed(now, ttl)
        times = @times ? @times.renewed(now, ttl) : Times.of(now, ttl, nil)
        Entry.new(namespace, key, value, plan, bytes, times, now, origin)
      end

      # Whether a read at that time gets it.
      def served?(now) = @times.nil? || @times.served?(now)

      # Whether it has expired for good.
      def over?(now) = !@times.nil? && @times.over?(now)

      # Milliseconds since 1970 at which it expires, if it does.
      def expires = @times&.expires

      # Seconds left, infinity where it does not expire.
      def left(now) = @times ? (@times.ends - now) / 1000.0 : Float::INFINITY
    end
  end
end
