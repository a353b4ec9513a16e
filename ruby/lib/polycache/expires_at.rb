# frozen_string_literal: true

require_relative "errors"
require_relative "memory/duration"

module Polycache
  # A time at which an entry expires, in the place of a time to live (spec/semantics.md, "Expiry at
  # a time").
  # @api private
  class ExpiresAt
    # @return [Integer] since 1970, rounded up, within what an entry can hold
    attr_reader :milliseconds

    # @raise [InvalidArgument]
    def initialize(time)
      case time
      when Time then @milliseconds = (time.to_r * 1000).ceil.clamp(1, Memory::Duration::MOST)
      else raise InvalidArgument, "expires_at is a Time, not #{time.inspect}"
      end
    end
  end

  private_constant :ExpiresAt
end
