# frozen_string_literal: true

module Polycache
  module Memory
    # Sizes: whole bytes, or text like "64MiB" (spec/semantics.md).
    module Size
      UNITS = {
        nil => 1, "B" => 1, "KiB" => 1 << 10, "MiB" => 1 << 20, "GiB" => 1 << 30, "TiB" => 1 << 40,
        "kB" => 10**3, "MB" => 10**6, "GB" => 10**9, "TB" => 10**12
      }.freeze
      TEXT = /\A([0-9]+)([KMGT]iB|[kMGT]?B)?\z/
      private_constant :UNITS, :TEXT

      module_function

      # @return [Integer] bytes, at least 1
      # @raise [InvalidArgument] which names the option
      def bytes(option, value)
        found = value.is_a?(String) ? of_text(value) : value
        return found if found.is_a?(Integer) && found.between?(1, (2**63) - 1)

        raise InvalidArgument,
              "#{option} is bytes, at least 1, or text like \"64MiB\": #{value.inspect}"
      end

      def of_text(text)
        number, unit = TEXT.match(text)&.captures
        number.to_i * UNITS.fetch(unit) if number && number.size <= 20
      rescue ArgumentError, EncodingError # An invalid or foreign encoding.
        nil
      end

      private_class_method :of_text
    end
  end
end
