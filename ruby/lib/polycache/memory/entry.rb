# frozen_string_literal: true

module Polycache
  module Memory
    # One entry. What it holds never changes, so that a reader without a lock sees a value with
    # the times and the origin that belong to it: another value for its key is another entry. (A
    # sliding expiry is the one exception, and moves alone.)
    class Entry
      # Frozen String, and the namespace that it is a key of.
      attr_reader :key, :space
      # What the isolation keeps, and how it is copied out; a plan of nil hands it out itself.
      attr_reader :value, :plan
      # What key, value and entry take.
      attr_reader :bytes
      # Milliseconds that it lives from the write or, where +sliding+, from the last read; nil is
      # for ever.
      attr_reader :ttl, :sliding
      # Where the host tier has it; nil without one.
      attr_reader :origin
      # Milliseconds since 1970; nil is never.
      attr_accessor :expires
      # Whether a hit has nothing to do but to set +marked+ and hand the value out.
      attr_accessor :plain
      # What the policy knows of it.
      attr_accessor :queue, :older, :newer, :marked, :count, :seen

      def initialize(space, key, value, plan: nil, bytes: 0, ttl: nil, expires: nil,
                     sliding: false, origin: nil)
        @space = space
        @key = key
        @value = value
        @plan = plan
        @bytes = bytes
        @ttl = ttl
        @expires = expires
        @sliding = sliding
        @origin = origin
        @plain = @marked = false
        @count = @seen = 0
        @queue = @older = @newer = nil
      end

      # The same value with another time to live.
      def living(ttl, expires, sliding)
        Entry.new(space, key, value, plan: plan, bytes: bytes, ttl: ttl, expires: expires,
                                     sliding: sliding, origin: origin)
      end

      # Whether a read at that time is given it: not from its expiry on, and not while the clock
      # stands well before its writing, or setting the clock back would let it live on
      # (spec/entry.md).
      def served?(now) = @expires.nil? || (now < @expires && now >= @expires - @ttl - TOLERANCE)

      # Milliseconds by which a clock may be set back without a change.
      TOLERANCE = 1000
      private_constant :TOLERANCE
    end
  end
end
