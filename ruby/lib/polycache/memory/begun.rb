# frozen_string_literal: true

require_relative "load"

module Polycache
  module Memory
    # A load that its caller began among others and ends itself: Polycache::Native::Load without a
    # directory.
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

      # Nothing was loaded: the callers that joined get the error.
      def fail(error)
        @load.landed = Landed.failed(error) if Flight.of_loader?(error)
        free
      end

      # The block left its key out: the callers that joined are told.
      def leave_out
        @load.landed = Landed::ABSENT
        free
      end

      # It waits for no other load: see Loading.
      def pause = nil

      # The load is over, however it was left. Does nothing if it was over already.
      def free = @entries.end_load(@name, @load)
    end
  end
end
