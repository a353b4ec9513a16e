# frozen_string_literal: true

require_relative "errors"
require_relative "expires_at"
require_relative "memory/duration"

module Polycache
  # The option +ttl+, its other name, +expires_in+, and +expires_at+ in the place of both.
  #
  # Methods take them as <tt>ttl: ((one = true) && :default), expires_in: ((other = true) && ttl),
  # expires_at: nil</tt>. Ruby evaluates the default of an option that was left out, so the
  # variables are nil for what was given. That costs nothing, and a method call would.
  # @api private
  module TtlOption
    TTL_OPTIONS = %i[ttl expires_in expires_at].freeze
    private_constant :TTL_OPTIONS

    private

    def refuse_both
      raise InvalidArgument, "ttl and expires_in are two names of one option: give one of them"
    end

    # @return [ExpiresAt] what stands for a time in the place of a time to live
    def instead_of_ttl(alone, time)
      return ExpiresAt.new(time) if alone

      raise InvalidArgument, "expires_at is given in the place of a ttl: give one of them"
    end

    def refuse_unknown(unknown, known = TTL_OPTIONS)
      return if unknown.empty?

      raise InvalidArgument, "unknown option #{unknown.join(", ")}: there are #{known.join(", ")}"
    end

    # What a write refuses, before there is one.
    def check_ttl(ttl, option = "ttl")
      return if ttl.nil? || ttl.equal?(:default) || ttl.is_a?(ExpiresAt)

      Memory::Duration.milliseconds(option, ttl)
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
