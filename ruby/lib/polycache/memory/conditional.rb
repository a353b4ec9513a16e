# frozen_string_literal: true

require_relative "../errors"
require_relative "core"
require_relative "key"

module Polycache
  module Memory
    # What a Namespace answers beside reads and writes: writes on a condition, where it replaces
    # Native::Cache. One that fails changes nothing.
    module Conditional
      WRITES, DELETES = Core.values_at(:writes, :deletes)
      SIGNED = (-(2**63)..((2**63) - 1))
      VERSIONS = (0..((2**64) - 1))
      private_constant(*constants(false))

      # @return [Boolean] whether it was stored, because the key had no entry
      def add(key, value, ttl)
        put_if(entry_of(key, value, ttl), &:nil?)
      end

      # @return [Boolean] whether it was stored, because the key had an entry
      def replace(key, value, ttl)
        put_if(entry_of(key, value, ttl)) { |there| there }
      end

      # @return [Boolean] whether it was stored, because the key's entry had this version
      def compare_and_set(key, version, value, ttl)
        key = Key.of(key)
        unless version.is_a?(Integer) && VERSIONS.cover?(version)
          raise InvalidArgument, "a version is an Integer from 0 to 2^64 - 1, as entry(key) " \
                                 "tells it, not #{version.inspect}"
        end

        put_if(entry_of(key, value, ttl)) { |there| there && there.version == version }
      end

      # @return [Integer] the sum
      def increment(key, by, initial, ttl) = count_by(key, by, initial, ttl, 1)

      # @return [Integer] what is left
      def decrement(key, by, initial, ttl) = count_by(key, by, initial, ttl, -1)

      # The key's value, or +miss+; and what was found, for the methods below.
      def find_to_update(key, miss)
        found = entry(key)
        [found ? @core.out(found.value, found.plan) : miss, found]
      end

      # Stores a value if the key is still as it was found.
      #
      # @param found [Entry, nil]
      # @param ttl the time to live; without it an entry keeps its own
      def set_updated(key, found, value, *ttl)
        entry = if ttl.empty? && found
                  keeping_times(found, value)
                else
                  entry_of(key, value, ttl.fetch(0, :default))
                end
        put_if(entry) { |there| there.equal?(found) }
      end

      # Deletes the key if it is still as it was found.
      def delete_updated(key, found)
        check_open
        key = Key.of(key)
        now = @core.now
        done = @core.change do
          next false unless served(key, now).equal?(found)

          remove(key, now)
          true
        end
        @counts[DELETES] += 1 if done && found
        done
      end

      # The entry's version: a number that no entry of the cache had before. Each write of the key
      # makes another entry. Most are never asked for it.
      def version_of(entry)
        entry.version || @core.change { entry.version ||= @core.next_version }
      end

      private

      def entry_of(key, value, ttl)
        check_open
        key = Key.of(key)
        @core.entry(self, key, value, milliseconds(ttl), @core.settings.time_to_idle)
      end

      def keeping_times(found, value)
        check_open
        times = found.times
        @core.entry(self, found.key, value, times&.ttl, times&.time_to_idle,
                    expires: times&.expires)
      end

      # The entry of a key that a read would be given.
      def served(key, now)
        entry = @index[key]
        entry if entry&.served?(now)
      end

      # Stores an entry if the block says so of the one that is there, or nil.
      def put_if(entry)
        now = @core.now
        stored = @core.change do
          @core.sweep(now)
          next false unless yield served(entry.key, now)

          @loads.delete(entry.key)
          @core.store.put(entry)
          true
        end
        @counts[WRITES] += 1 if stored
        stored
      end

      def count_by(key, by, initial, ttl, sign)
        check_open
        key = Key.of(key)
        signed("by", by)
        signed("initial", initial)
        ttl = milliseconds(ttl)
        loop do
          found = served(key, @core.now)
          sum = fitting((found ? integer(found.value) : initial) + (sign * by))
          entry = if found
                    keeping_times(found, sum)
                  else
                    @core.entry(self, key, sum, ttl, @core.settings.time_to_idle)
                  end
          return sum if put_if(entry) { |there| there.equal?(found) }
        end
      end

      def signed(option, given)
        return if given.is_a?(Integer) && SIGNED.cover?(given)

        raise InvalidArgument, "#{option} is an Integer of 64 bits with a sign (-2^63 to " \
                               "2^63 - 1), not #{given.inspect}"
      end

      def integer(value)
        return fitting(value) if value.is_a?(Integer)

        message = "$: only an integer can be counted up and down"
        raise Error.build("wrong_type", message, { path: "$" })
      end

      def fitting(integer)
        return integer if SIGNED.cover?(integer)

        raise IntegerOverflow, "the integer would not fit 64 bits with a sign (-2^63 to " \
                               "2^63 - 1); nothing was stored"
      end
    end
  end
end
