# frozen_string_literal: true

require_relative "errors"
require_relative "memory/duration"

module Polycache
  # The option +ttl+ and its other name, +expires_in+: one of the two.
  #
  # Methods take them as <tt>ttl: ((one = true) && :default), expires_in: ((other = true) &&
  # ttl)</tt>. Ruby evaluates the default of an option that was left out, so both variables are nil
  # when both were given. That costs nothing, and a method call would.
  # @api private
  module TtlOption
    TTL_OPTIONS = %i[ttl expires_in].freeze
    private_constant :TTL_OPTIONS

    private

    def refuse_both
      raise InvalidArgument, "ttl and expires_in are two names of one option: give one of them"
    end

    def refuse_unknown(unknown, known = TTL_OPTIONS)
      return if unknown.empty?

      raise InvalidArgument, "unknown option #{unknown.join(", ")}: there are #{known.join(", ")}"
    end

    # What a write refuses, before there is one.
    def check_ttl(ttl, option = "ttl")
      Memory::Duration.milliseconds(option, ttl) unless ttl.nil? || ttl.equal?(:default)
    end

    # Options of a cache, in which +ttl+ is called so.
    def with_one_ttl(options)
      return options unless options.key?(:expires_in)

      refuse_both if options.key?(:ttl)
      options.except(:expires_in).merge(ttl: options[:expires_in])
    end
  end

  private_constant :TtlOption
end
