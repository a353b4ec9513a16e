# frozen_string_literal: true

require_relative "load"

module Polycache
  module Memory
    # A load that its caller began among others, and ends by itself: Polycache::Native::Load without
    # a directory.
    class Begun
      attr_reader :name, :load, :ttl

      # @param name [String] the key, as Key.of gives it
      # @param ttl [Integer, nil, :default] milliseconds, or the cache's own
      def initialize(entries, name, load, ttl)
        @entries = entries
        @name = name
        @load = load
        @ttl = ttl
      end

      # Nothing was loaded: those who joined get the error.
      def fail(error)
        @load.landed = Landed.failed(error) if Flight.of_loader?(error)
        free
      end

      # It is over, however it was left. Of one that is over, nothing happens.
      def free = @entries.end_load(@name, @load)
    end
  end
end
