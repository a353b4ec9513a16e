# frozen_string_literal: true

require_relative "errors"

module Polycache
  # What happens to loaded values of one handle that cannot be stored (spec/semantics.md, "Unstored
  # values").
  # @api private
  class Unstored
    WAYS = %w[report raise].freeze

    # @param store_errors [String, Symbol] "report" or "raise"
    # @raise [InvalidArgument]
    def initialize(store_errors)
      way = store_errors.is_a?(Symbol) ? store_errors.name : store_errors
      unless WAYS.include?(way)
        raise InvalidArgument,
              "store_errors is one of #{WAYS.join(", ")}, not #{store_errors.inspect}"
      end
      @raises = way == "raise"
      @reported = {}
    end

    # @return [Boolean] whether it is the error that +set+ would give
    def raises? = @raises

    # Warns, once for each code.
    def report(error)
      return if @reported[error.code]

      @reported[error.code] = true
      warn("polycache: a loaded value was handed to its caller, but cannot be stored, so every " \
           "call loads it anew: #{error.message} (#{error.code}; said once, " \
           "stats[:unstored] counts)")
    end
  end

  private_constant :Unstored
end
