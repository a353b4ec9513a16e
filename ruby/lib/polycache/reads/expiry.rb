# frozen_string_literal: true

module Polycache
  module Reads
    # When a reply ends by itself.
    module Expiry
      # How many hashes have fields that expire (Redis 7.4, Valkey 9).
      FIELDS = /(?:subexpiry|keys_with_volatile_items)=[1-9]/n
      private_constant :FIELDS

      module_function

      # @return [Array<Array<String>>] what is to be asked in front of a read
      def questions(plan)
        times = plan.keys.map { |key| ["PTTL", key] }
        times << %w[INFO keyspace] if plan.shows_fields?
        times
      end

      # Times to live count from before they were asked for.
      #
      # @param answers [Array] to these questions, errors among them
      # @param sent_at [Integer] milliseconds since 1970
      # @return [Integer, nil] when it expires, by the same clock; 0 is never; nil: it is not known
      def of(plan, answers, sent_at)
        *times, keyspace = plan.shows_fields? ? answers : [*answers, ""]
        return unless times.all?(Integer) && keyspace.is_a?(String)
        return if keyspace.b.match?(FIELDS)

        left = times.reject(&:negative?).min
        left ? sent_at + left : 0
      end
    end
  end
end
