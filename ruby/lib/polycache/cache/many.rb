# frozen_string_literal: true

module Polycache
  class Cache
    # Operations on many keys. Each key is read or written on its own: others may change one
    # between two.
    module Many
      # @return [Enumerable] the keys
      # @raise [InvalidArgument] for a single key, and what else is no list
      def self.list(keys)
        return keys if keys.is_a?(Enumerable)

        raise InvalidArgument, "several keys are a list of them, not #{keys.class}"
      end

      # @param keys [Enumerable<String, Symbol>]
      # @return [Hash] the keys found, as they were given, with their values
      def get_many(keys)
        Many.list(keys).each_with_object({}) do |key, found|
          value = get(key, MISSING)
          found[key] = value unless MISSING.equal?(value)
        end
      end

      # @param values [Hash] keys with their values
      # @param ttl [String, Numeric, nil, :default] as for +set+
      # @return [nil]
      # @raise what +set+ raises; the keys before that one are stored
      def set_many(values, ttl: ((one = true) && :default),
                   expires_in: ((other = true) && ttl), **unknown)
        refuse_both unless one || other
        refuse_unknown(unknown.keys) unless unknown.empty?
        values.each { |key, value| set(key, value, ttl: expires_in) }
        nil
      end

      # @param keys [Enumerable<String, Symbol>]
      # @return [Integer] how many entries stood there
      def delete_many(keys) = Many.list(keys).count { |key| delete(key) }
    end
  end
end
