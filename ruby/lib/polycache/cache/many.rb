# frozen_string_literal: true

require_relative "../errors"
require_relative "../loading_many"
require_relative "../many_arguments"

module Polycache
  class Cache
    # Operations on many keys. Each key is read or written on its own: others may change a key in
    # between.
    module Many
      # @param keys [Enumerable<String, Symbol>]
      # @return [Hash] the keys found, as they were given, with their values
      def get_many(keys)
        # Of an Array that nobody changes meanwhile.
        @tiers.get_many([*listed(keys)], {})
      end

      # @param values [Hash] keys with their values
      # @param ttl [String, Numeric, nil, :default] as for +set+
      # @param expires_at [Time, nil] when they expire, instead of +ttl+
      # @return [nil]
      # @raise what +set+ raises; the keys before that one are stored
      def set_many(values, ttl: ((one = true) && :default),
                   expires_in: ((other = true) && ttl), expires_at: nil,
                   **unknown)
        expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
        refuse_both unless one || other
        refuse_unknown(unknown.keys) unless unknown.empty?
        pairs = ManyArguments.pairs(values)
        check_ttl(expires_in)
        ManyArguments.check_open(@tiers)
        @tiers.set_many([*pairs.each_pair], expires_in)
        nil
      end

      # @param keys [Enumerable<String, Symbol>]
      # @return [Integer] how many entries stood there
      def delete_many(keys) = @tiers.delete_many([*listed(keys)])

      # Deletes the keys of this namespace (not of nested ones) that begin with +prefix+. It is not
      # one step: keys written meanwhile may stay.
      #
      # @param prefix [String, Symbol]
      # @return [Integer] how many entries it deleted
      def delete_prefix(prefix) = @tiers.delete_prefix(prefix)

      # Reads keys, and loads those that are missing: the block is called with an Array of them,
      # once, and returns a Hash of these keys to their values. A key that it leaves out has no
      # entry, and is not in the result.
      #
      # Each key is loaded as by +get_or_set+: by one caller on this machine. After the block's
      # values are stored, the caller waits for keys that others load. If some of those fall to it
      # after all, the block is called again.
      #
      # @param keys [Enumerable<String, Symbol>]
      # @param ttl [String, Numeric, nil, :default] as for +set+, of what is loaded; +expires_in+ is
      #   another name for it
      # @param expires_at [Time, nil] when they expire, instead of +ttl+
      # @yieldparam missing [Array<String, Symbol>] as they were given, none of them twice
      # @yieldreturn [Hash]
      # @return [Hash] the keys that have a value, as they were given, with it
      # @raise [InvalidArgument] for a key that the block was not asked for; nothing is stored
      # @raise [WaitTimeout] after waiting +wait_timeout+ for others
      # @raise what the block raises; what +get+ raises
      def get_or_set_many(keys, ttl: ((one = true) && :default),
                          expires_in: ((other = true) && ttl),
                          expires_at: nil, **unknown, &load)
        expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
        refuse_both unless one || other
        refuse_unknown(unknown.keys) unless unknown.empty?
        raise InvalidArgument, "get_or_set_many takes a block that loads the values" unless load

        LoadingMany.new(@tiers, ManyArguments.keys(keys), expires_in, load).values
      end
      alias fetch_many get_or_set_many

      private

      # The keys. There may be none, and then no operation on a key says that the cache is closed.
      def listed(keys)
        list = ManyArguments.keys(keys)
        ManyArguments.check_open(@tiers)
        list
      end
    end
  end
end
