# frozen_string_literal: true

require_relative "duration"
require_relative "../expires_at"

module Polycache
  module Memory
    # When an entry expires: here, by its time to live. All in milliseconds, times since 1970.
    class Times
      # Milliseconds by which a clock may be set back without a change.
      TOLERANCE = 1000
      private_constant :TOLERANCE

      # @param ttl [Integer, ExpiresAt, nil] how long it lives, as +time_to_idle+; nil is for ever
      # @param expires [Integer, nil] when it expires, if not +ttl+ from now on
      # @return [Times, nil] nil if it never expires
      def self.of(now, ttl, time_to_idle, expires = nil)
        return unless ttl || time_to_idle

        if ttl.is_a?(ExpiresAt)
          expires = ttl.milliseconds
          ttl = expires - now
        end
        expires ||= [now + ttl, Duration::MOST].min if ttl
        time_to_idle ? IdleTimes.new(ttl, expires, time_to_idle, now) : new(ttl, expires)
      end

      attr_reader :ttl, :expires

      def initialize(ttl, expires)
        @ttl = ttl
        @expires = expires
      end

      # It has none.
      def time_to_idle = nil

      # Whether a read at that time gets the entry: not from its end on, and not while the clock is
      # well before its writing; otherwise setting the clock back would let it live on
      # (spec/entry.md).
      def served?(now) = now < @expires && now >= @expires - @ttl - TOLERANCE

      # The same, of a read that is a use of the entry.
      alias used? served?

      # When it expires, as it is now.
      def ends = @expires

      # Whether it has expired for good, not just until the clock is right again.
      def over?(now) = now >= ends

      # With another time to live, from now on.
      def renewed(now, ttl) = Times.of(now, ttl, time_to_idle)
    end

    # The time to idle, from the last use on, and maybe a time to live, whichever is over first. The
    # time of the last use is the only part of an entry that a read changes.
    class IdleTimes < Times
      attr_reader :time_to_idle

      def initialize(ttl, expires, time_to_idle, used)
        super(ttl, expires)
        @time_to_idle = time_to_idle
        @used = used
      end

      def served?(now)
        now < @used + @time_to_idle && now >= @used - TOLERANCE && (@expires.nil? || super)
      end

      def used?(now)
        served = served?(now)
        @used = now if served
        served
      end

      def ends
        idles = @used + @time_to_idle
        @expires && @expires < idles ? @expires : idles
      end
    end

    private_constant :IdleTimes
  end
end
