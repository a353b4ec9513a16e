# frozen_string_literal: true

module Polycache
  module Memory
    # Durations as Ruby writes them, by the rules of spec/semantics.md.
    module Duration
      # Milliseconds of each unit.
      UNITS = { "ms" => 1, "s" => 1000, "m" => 60_000, "h" => 3_600_000, "d" => 86_400_000 }.freeze
      TEXT = /\A([0-9]+)(ms|s|m|h|d)\z/
      # The latest time that an entry can hold, and the longest duration, in milliseconds.
      MOST = (2**48) - 1
      private_constant :UNITS, :TEXT

      module_function

      # @param option [String] what it is for
      # @param value [String, Numeric] text, or seconds
      # @return [Integer] milliseconds, parts of one rounded up
      # @raise [InvalidArgument]
      def milliseconds(option, value)
        found = value.is_a?(String) ? of_text(value) : of_seconds(value)
        return found if found&.between?(1, MOST)

        raise InvalidArgument,
              "#{option} is a duration longer than 0 and at most 2^48 - 1 ms, as text " \
              "(\"250ms\", \"30s\", \"5m\", \"2h\", \"1d\") or in seconds: #{value.inspect}"
      end

      def of_text(text)
        number, unit = TEXT.match(text)&.captures
        number.to_i * UNITS.fetch(unit) if number && number.size <= 20
      rescue ArgumentError, EncodingError # An invalid or foreign encoding.
        nil
      end

      def of_seconds(value)
        return unless value.is_a?(Numeric)

        # First roughly: the digits of an exact number may be many.
        return unless value.to_f.positive? && value.to_f < 1e12

        # A Float means the nearest nanosecond: 0.1 is 100 ms, not a bit more.
        return ((value.to_r * 1_000_000_000).round / 1_000_000r).ceil if value.is_a?(Float)

        (value.to_r * 1000).ceil
      rescue StandardError # A Complex with an imaginary part, a BigDecimal that is NaN.
        nil
      end

      private_class_method :of_text, :of_seconds
    end
  end
end
