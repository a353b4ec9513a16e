# frozen_string_literal: true

require_relative "arguments"
require_relative "errors"

module Polycache
  # A function that is memoized: a lambda, which is called as the function was before.
  class Memoized < Proc
    # @api private
    def initialize(cache, key_for)
      super()
      @cache = cache
      @key_for = key_for
    end

    # Deletes the result for these arguments.
    #
    # @return [Boolean] whether there was one
    # @raise [InvalidArgument] as a call with them
    def forget(*args, **options) = @cache.delete(@key_for.call(*args, **options))
  end

  # Functions with cached results.
  module Memoize
    # A function with results kept in this cache. It is called when there is none for its arguments,
    # like the block of +get_or_set+.
    #
    #   price = cache.memoize(name: "price", ttl: "5m") { |fruit, unit: "kg"| load(fruit, unit) }
    #   price.call("apple", unit: "lb")
    #   user = cache.memoize(Users.method(:find), key: ->(id) { "user:#{id}" })
    #
    # Without +key+, the key of a result is the function's name with its arguments:
    # <tt>price("apple", :"unit" => "lb")</tt>. Arguments are nil, true, false, Integers, Floats,
    # Strings, Symbols, and Arrays and Hashes of these; a call with anything else raises
    # InvalidArgument. <tt>price.forget("apple")</tt> deletes one result,
    # <tt>cache.delete_prefix("price(")</tt> all of them.
    #
    # A method of a module or class has a name (<tt>Users.find</tt>), and so does one of a program's
    # main object (with the path of its file). A block has none. A method of any other object has
    # none either, because its result may depend on that object.
    #
    # @param function [Method, nil] memoized instead of the block
    # @param ttl [String, Numeric, nil, :default] as for +set+; +expires_in+ is another name for it
    # @param expires_at [Time, nil] when the results expire, instead of +ttl+
    # @param name [String, Symbol, nil] the function's name in keys; a method's own by
    #   default
    # @param key [#call, nil] is given the arguments, and returns the key instead of name
    #   and arguments
    # @yieldreturn [Object] the value for these arguments
    # @return [Memoized] a lambda
    # @raise [InvalidArgument] for a function without a name, +name+ or +key+
    def memoize(function = nil, ttl: ((one = true) && :default),
                expires_in: ((other = true) && ttl), expires_at: nil,
                name: nil, key: nil, &block)
      expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
      refuse_both unless one || other
      check_ttl(expires_in)
      key_for = Arguments.keys(Arguments.function(function, block), name, key)
      called = function || block
      recall = lambda do |*args, **options, &given|
        raise InvalidArgument, "a memoized function takes no block" if given

        get_or_set(key_for.call(*args, **options), expires_in: expires_in) do
          called.call(*args, **options)
        end
      end
      Memoized.new(self, key_for, &recall)
    end
  end
end
