# frozen_string_literal: true

module Polycache
  # The path to the culprit of an error in a value: "$.user.tags[3]" (spec/errors.md).
  # @api private
  module ValuePath
    ESCAPES = { "\"" => "\\\"", "\\" => "\\\\", "\b" => "\\b", "\f" => "\\f", "\n" => "\\n",
                "\r" => "\\r", "\t" => "\\t" }.freeze
    private_constant :ESCAPES

    module_function

    # @param steps [Array] keys of maps and places in lists, outermost first
    # @return [String]
    def of(steps) = "$#{steps.map { |step| segment(step) }.join}"

    def segment(step)
      return "[#{step}]" if step.is_a?(::Integer)
      return "[#{step.inspect}]" unless step.is_a?(::String) && step.encoding == ::Encoding::UTF_8
      return ".#{step}" if /\A[A-Za-z_][A-Za-z0-9_]*\z/.match?(step)

      escaped = step.gsub(/["\\\u0000-\u001f]/) do |one|
        ESCAPES[one] || format("\\u%04x", one.ord)
      end
      "[\"#{escaped}\"]"
    end

    private_class_method :segment
  end

  private_constant :ValuePath
end
