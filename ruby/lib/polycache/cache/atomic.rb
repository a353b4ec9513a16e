# frozen_string_literal: true

require_relative "../errors"
require_relative "../memory/key"
require_relative "../ttl_option"

module Polycache
  class Cache
    # Operations that read and write as one step: of all callers on this machine, in every process
    # and language, no other changes the key in between. One that raises has changed nothing.
    module Atomic
      # How often an update calls its block.
      ATTEMPTS = 100
      # Options of +increment+ and +decrement+.
      COUNTING = %i[initial ttl expires_in expires_at].freeze
      private_constant :ATTEMPTS, :COUNTING

      # Stores a value if the key has none. Of several callers at once, one stores its value. A load
      # of the key under way is not stored then.
      #
      #   cache.add("winner", "Ada") # => true
      #   cache.add("winner", "Grace") # => false
      #
      # @param key [String, Symbol]
      # @param value [Object]
      # @param ttl [String, Numeric, nil, :default] as for +set+; +expires_in+ is another name for
      #   it
      # @param expires_at [Time, nil] when it expires, instead of +ttl+
      # @return [Boolean] whether it was stored
      # @raise [UnsupportedValue, InvalidArgument, EntryTooLarge, NoSpace, IoError]
      def add(key, value, ttl: ((one = true) && :default), expires_in: ((other = true) && ttl),
              expires_at: nil, **unknown)
        expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
        refuse_both unless one || other
        refuse_unknown(unknown.keys) unless unknown.empty?
        @tiers.add(key, value, expires_in)
      end

      # Stores a value if the key has one.
      #
      # @param key [String, Symbol]
      # @param value [Object]
      # @param ttl [String, Numeric, nil, :default] as for +set+; +expires_in+ is another name for
      #   it
      # @param expires_at [Time, nil] when it expires, instead of +ttl+
      # @return [Boolean] whether it was stored
      # @raise [UnsupportedValue, InvalidArgument, EntryTooLarge, NoSpace, IoError]
      def replace(key, value, ttl: ((one = true) && :default), expires_in: ((other = true) && ttl),
                  expires_at: nil, **unknown)
        expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
        refuse_both unless one || other
        refuse_unknown(unknown.keys) unless unknown.empty?
        @tiers.replace(key, value, expires_in)
      end

      # Stores a value if the key's entry still has this version. False if the key was written,
      # touched or deleted since, or its entry was moved to another place: read it again.
      #
      #   entry = cache.entry("page")
      #   cache.compare_and_set("page", entry.version, edit(entry.value)) # => true
      #
      # @param key [String, Symbol]
      # @param version [Integer] what +entry+ told
      # @param value [Object]
      # @param ttl [String, Numeric, nil, :default] as for +set+; +expires_in+ is another name for
      #   it
      # @param expires_at [Time, nil] when it expires, instead of +ttl+
      # @return [Boolean] whether it was stored
      # @raise [UnsupportedValue, InvalidArgument, EntryTooLarge, NoSpace, IoError]
      def compare_and_set(key, version, value, ttl: ((one = true) && :default),
                          expires_in: ((other = true) && ttl),
                          expires_at: nil, **unknown)
        expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
        refuse_both unless one || other
        refuse_unknown(unknown.keys) unless unknown.empty?
        @tiers.compare_and_set(key, version, value, expires_in)
      end

      # Reads a key, calls the block with its value, and stores what the block returns. DELETE
      # deletes the key instead, and LEAVE leaves it as it is. If others changed the key meanwhile,
      # it reads again and calls the block again, 100 times at most: no update is lost. No lock is
      # held while the block runs, and it may use the cache. It should do nothing but compute.
      #
      #   cache.update("players", []) { |players| players + ["Ada"] }
      #   cache.update("job") { |job| job == "done" ? Polycache::Cache::DELETE : "running" }
      #
      # What the block raises is raised, and nothing has changed.
      #
      # @param key [String, Symbol]
      # @param default [Object] what the block is given when there is no entry; and what is returned
      #   when there is none afterwards, or the key was left. Default: nil.
      # @param ttl [String, Numeric, nil, :default] as for +set+, from the write on; +expires_in+ is
      #   another name for it. Without it an entry keeps its time to live, and a new one has the
      #   cache's own.
      # @param expires_at [Time, nil] when it expires, instead of +ttl+
      # @yieldparam value [Object] the key's value
      # @return [Object, nil] what was stored
      # @raise [Conflict] when others changed the key each time
      # @raise [UnsupportedValue, InvalidArgument, EntryTooLarge, NoSpace, IoError]; what +get+
      #   raises
      def update(key, default = nil, ttl: ((one = true) && :default),
                 expires_in: ((other = true) && ttl), expires_at: nil,
                 **unknown, &function)
        expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
        refuse_both unless one || other
        refuse_unknown(unknown.keys) unless unknown.empty?
        raise InvalidArgument, "update takes a block that makes the new value" unless function

        check_ttl(expires_in)
        given = [expires_in] unless one && other && expires_at.nil?
        try_update(Memory::Key.of(key), default, given || [], &function)
      end

      # Adds to the key's Integer. No addition is lost, however many callers add at once. The entry
      # keeps its time to live.
      #
      # @param key [String, Symbol]
      # @param by [Integer] -2**63 to 2**63 - 1. Default: 1.
      # @param initial [Integer] what is added to when there is no entry, -2**63 to 2**63 - 1.
      #   Default: 0.
      # @param ttl [String, Numeric, nil, :default] as for +set+, when there is no entry;
      #   +expires_in+ is another name for it
      # @param expires_at [Time, nil] when it expires, instead of +ttl+
      # @return [Integer] the sum
      # @raise [WrongType] when the value is not an Integer
      # @raise [IntegerOverflow] when it or the sum does not fit 64 bits with a sign
      # @raise [InvalidArgument, NoSpace, IoError]; what +get+ raises
      def increment(key, by = 1, initial: 0, ttl: ((one = true) && :default),
                    expires_in: ((other = true) && ttl), expires_at: nil,
                    **unknown)
        expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
        refuse_both unless one || other
        refuse_unknown(unknown.keys, COUNTING) unless unknown.empty?
        @tiers.increment(key, by, initial, expires_in)
      end

      # Subtracts from the key's Integer, as +increment+ adds to it.
      #
      # @param key [String, Symbol]
      # @param by [Integer] -2**63 to 2**63 - 1. Default: 1.
      # @param initial [Integer] what is subtracted from when there is no entry, -2**63 to
      #   2**63 - 1. Default: 0.
      # @param ttl [String, Numeric, nil, :default] as for +set+, when there is no entry;
      #   +expires_in+ is another name for it
      # @param expires_at [Time, nil] when it expires, instead of +ttl+
      # @return [Integer] what is left
      # @raise what +increment+ raises
      def decrement(key, by = 1, initial: 0, ttl: ((one = true) && :default),
                    expires_in: ((other = true) && ttl), expires_at: nil,
                    **unknown)
        expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
        refuse_both unless one || other
        refuse_unknown(unknown.keys, COUNTING) unless unknown.empty?
        @tiers.decrement(key, by, initial, expires_in)
      end

      private

      # @param key [String] which nobody changes
      # @param ttl [Array] of one, or none: an entry keeps its own
      def try_update(key, default, ttl)
        ATTEMPTS.times do
          value, found = @tiers.find_to_update(key, default)
          new = yield value
          return default if LEAVE.equal?(new)

          if DELETE.equal?(new)
            return default if @tiers.delete_updated(key, found)
          elsif @tiers.set_updated(key, found, new, *ttl)
            return new
          end
        end
        raise Conflict, "others changed this key each of the #{ATTEMPTS} times that the update " \
                        "was tried; try again later, or update it less often"
      end
    end
  end
end
