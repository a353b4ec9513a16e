# frozen_string_literal: true

require_relative "errors"

module Polycache
  # The arguments of operations on many keys, checked.
  # @api private
  module ManyArguments
    module_function

    # @return [Enumerable] the keys
    # @raise [InvalidArgument] for a single key, and what else is no list
    def keys(given)
      return given if given.is_a?(Enumerable)

      raise InvalidArgument, "several keys are a list of them, not #{given.class}"
    end

    # @return [#each_pair] keys with their values
    # @raise [InvalidArgument]
    def pairs(given)
      return given if given.respond_to?(:each_pair) && !given.is_a?(Struct)

      raise InvalidArgument, "set_many takes a Hash of keys and values, not #{given.class}"
    end

    # There may be no key, whose operation would say so.
    # @raise [Closed]
    def check_open(tiers)
      raise Closed, "the cache was closed: open another" if tiers.closed?
    end
  end

  private_constant :ManyArguments
end
