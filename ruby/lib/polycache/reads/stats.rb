# frozen_string_literal: true

module Polycache
  module Reads
    # What cached reads did since they were made. The caller holds a lock.
    class Stats
      WHYS = %i[deaf not_heard busy refused].freeze

      attr_accessor :memory_hits, :host_hits, :sent, :joined

      def initialize
        @memory_hits = @host_hits = @sent = @joined = 0
        @uncached = WHYS.to_h { |why| [why, 0] }
      end

      def uncached(why)
        @uncached[why] += 1
      end

      def to_h
        { memory_hits: memory_hits, host_hits: host_hits, sent: sent, joined: joined,
          uncached: @uncached.dup }
      end
    end
  end
end
