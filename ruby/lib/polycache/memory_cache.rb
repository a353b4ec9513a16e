# frozen_string_literal: true

require_relative "brackets"
require_relative "errors"
require_relative "lease"
require_relative "loading"
require_relative "loading_many"
require_relative "many_arguments"
require_relative "memoize"
require_relative "memory/namespace"
require_relative "memory/settings"
require_relative "ttl_option"

module Polycache
  # A cache of objects inside this process. <tt>require "polycache/memory"</tt> needs no native
  # extension; where there is one, it makes the copies.
  #
  #   users = Polycache::MemoryCache.new(max_entries: 10_000, ttl: "5m")
  #   users.get_or_set("user:1") { load_user(1) }
  #
  # Any number of threads and fibers may use it. Forked children go on with a copy of their own.
  # spec/eviction.md says which entries go when there is no room.
  #
  # *Keys* are Strings and Symbols, which stand for their text. *Values*: with the isolation "clone"
  # (the default: what is stored is a copy, and so is what is handed out) and "freeze" (one frozen
  # copy is handed out to all) they are nil, true, false, numbers, Symbols, Strings, Arrays, Hashes,
  # Sets, Times (not subclasses of these), and objects that are frozen to their depth. With "none"
  # they are any objects, handed out themselves.
  #
  # *Durations* are text ("250ms", "30s", "5m", "2h", "1d") or seconds as any Numeric. Methods
  # that take a key raise InvalidKey.
  class MemoryCache
    extend Brackets::Inherited
    include Memoize
    include TtlOption

    # The result of +entry+: +ttl+ is seconds left (infinity: it does not expire), +bytes+ is its
    # weight.
    Entry = Struct.new(:key, :value, :ttl, :bytes, keyword_init: true)

    # @param options
    #   * +max_entries+ [Integer] the most entries, 1 to 2^24. Default: 10,000.
    #   * +max_bytes+ [Integer, String, nil] the most bytes that keys and values take together, by
    #     an estimate; nil: nothing is weighed. Default: "64MiB".
    #   * +weigher+ [#call, nil] is given key and value and returns a whole number, which counts of
    #     +max_bytes+ instead of the estimate. Default: nil.
    #   * +ttl+ [String, Numeric, nil] how long an entry lives if its write does not say; nil is for
    #     ever. +expires_in+ is another name for it. Default: nil.
    #   * +time_to_idle+ [String, Numeric, nil] how long an entry lives without being read or
    #     written; with +ttl+ too, whichever comes first. +set+ and +touch+ begin it anew; +peek+,
    #     +has?+, +ttl+, +entry+ and +each+ are not uses. nil is for ever. Default: nil.
    #   * +policy+ [String, Symbol] "2q-clock", or "lru", which evicts exactly what was used longest
    #     ago. Default: "2q-clock".
    #   * +isolation+ [String, Symbol] which callers see a change of a stored or returned object:
    #     "clone", "freeze" (see above) or "none". Default: "clone".
    #   * +removal_listener+ [#call, nil] is given key, value and why the entry left: +:replaced+
    #     +:deleted+ +:expired+ +:evicted+ +:cleared+. It runs after the operation, in the thread
    #     that did it. What it raises is warned of, and fails no operation. Default: nil.
    #   * +lease_timeout+ [String, Numeric] how old a load may be before a caller stops waiting for
    #     it and loads beside it, 63 ms to 8 h. Default: "30s".
    #   * +wait_timeout+ [String, Numeric] how long a caller waits for the loads of others before it
    #     gets WaitTimeout, 1 ms to 24 h. Default: "60s".
    #   * +store_errors+ [String, Symbol] what happens to a loaded value that cannot be stored:
    #     "report" (its caller gets it, +stats+ counts it as +:unstored+, and one warning is given)
    #     or "raise". Default: "report".
    #   * +types+ [Hash, nil] classes of the program by name, as for Cache.new: with the isolations
    #     "clone" and "freeze" each reader gets an object that +decode+ makes of what +encode+ made.
    #     An object that is frozen to its depth is handed out itself. Default: nil.
    #   * +clock+ [#call, nil] returns milliseconds since 1970, for tests; nil is the system's.
    #     Default: nil.
    # @raise [InvalidArgument] for an unknown option or a wrong value
    def initialize(**options)
      @entries = Memory::Core.new(Memory::Settings.new(with_one_ttl(options))).root
    end

    # @param key [String, Symbol]
    # @param default [Object] the answer when there is no entry
    # @return [Object, nil] its value
    def get(key, default = nil) = @entries.get(key, default)
    alias [] get

    # As +get+, but not counted and not a use.
    def peek(key, default = nil) = @entries.peek(key, default)

    # @param key [String, Symbol]
    # @param value [Object]
    # @param ttl [String, Numeric, nil, :default] how long it lives: nil is for ever, :default
    #   the cache's own +ttl+. +expires_in+ is another name for it
    # @param expires_at [Time, nil] when it expires, to the millisecond, instead of +ttl+
    # @param time_to_idle [String, Numeric, nil, :default] how long it lives without being read
    #   or written: nil is for ever, :default the cache's own
    # @return [nil]
    # @raise [UnsupportedValue, InvalidArgument] and nothing has changed
    # @raise [EntryTooLarge] it is heavier than the whole cache may be; the old value is gone, too
    def set(key, value, ttl: ((one = true) && :default),
            expires_in: ((other = true) && ttl), expires_at: nil,
            time_to_idle: :default)
      expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
      refuse_both unless one || other
      return @entries.set(key, value, expires_in) if time_to_idle.equal?(:default)

      idle = time_to_idle && Memory::Duration.milliseconds("time_to_idle", time_to_idle)
      @entries.set(key, value, expires_in, idle)
    end

    # <tt>cache[key] = value</tt>
    def []=(key, value)
      @entries.set(key, value, :default)
    end

    # @return [Boolean] whether there is an entry, nil included
    def has?(key) = @entries.has(key)
    alias exist? has?
    alias key? has?

    # Deletes a key; loads of it under way are not stored.
    #
    # @return [Boolean] whether it had an entry
    def delete(key) = @entries.delete(key)

    # Deletes a key and returns its value: of several callers, one gets it. Loads of the key under
    # way are not stored.
    #
    # @param default [Object] the answer when there is no entry
    # @return [Object, nil] its value
    def take(key, default = nil) = @entries.take(key, default)

    # Reads a key; when there is no entry, runs the block and stores its result. Of all callers in
    # this process one runs its block; the others wait for the value without blocking other threads
    # (or, under a Fiber scheduler, other fibers). All of them get what a reader would get.
    # Cache#get_or_set says what happens when a block raises, takes long, or asks for its own key.
    # +fetch+ is another name for it, known from ActiveSupport.
    #
    # @param ttl [String, Numeric, nil, :default] as for +set+; it counts from the end of the load
    # @param expires_at [Time, nil] when it expires, instead of +ttl+
    # @yieldreturn [Object] the value
    # @return [Object] the value
    # @raise [WaitTimeout] after waiting +wait_timeout+ for others
    # @raise what the block raises
    def get_or_set(key, ttl: ((one = true) && :default), expires_in: ((other = true) && ttl),
                   expires_at: nil, &load)
      expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
      refuse_both unless one || other
      value = @entries.fetch(key, expires_in, nil, Loading::BUSY, &load)
      return value unless Loading::BUSY.equal?(value)

      Loading.wait(@entries, key, expires_in, &load)
    end
    alias fetch get_or_set

    # A lock by a key's name within this process, for callers that make values: see Lease.
    #
    # @param key [String, Symbol]
    # @return [Lease]
    def lease(key) = Lease.new(@entries, key)

    # @param keys [Enumerable<String, Symbol>]
    # @return [Hash] the keys found, as they were given, with their values
    def get_many(keys)
      ManyArguments.keys(keys).each_with_object({}) do |key, found|
        value = @entries.get(key, MISSING)
        found[key] = value unless MISSING.equal?(value)
      end
    end

    # Stores in order; the first error ends it, and earlier entries stay.
    #
    # @param values [Hash] keys with their values
    # @param ttl [String, Numeric, nil, :default] as for +set+; so is +time_to_idle+
    # @param expires_at [Time, nil] when they expire, instead of +ttl+
    # @return [nil]
    # @raise what +set+ raises; the keys before that one are stored
    def set_many(values, ttl: ((one = true) && :default),
                 expires_in: ((other = true) && ttl), expires_at: nil,
                 time_to_idle: :default)
      expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
      refuse_both unless one || other
      pairs = ManyArguments.pairs(values)
      check_ttl(expires_in)
      check_ttl(time_to_idle, "time_to_idle")
      pairs.each_pair { |key, value| set(key, value, ttl: expires_in, time_to_idle: time_to_idle) }
      nil
    end

    # @return [Integer] how many entries stood there
    def delete_many(keys) = ManyArguments.keys(keys).count { |key| delete(key) }

    # Reads keys, and loads those that are missing: the block is called with an Array of them,
    # once, and returns a Hash of these keys to their values. A key that it leaves out has no
    # entry, and is not in the result. See Cache#get_or_set_many.
    #
    # @param keys [Enumerable<String, Symbol>]
    # @param ttl [String, Numeric, nil, :default] as for +get_or_set+, of what is loaded
    # @param expires_at [Time, nil] when they expire, instead of +ttl+
    # @yieldparam missing [Array<String, Symbol>] as they were given, none of them twice
    # @yieldreturn [Hash]
    # @return [Hash] the keys that have a value, as they were given, with it
    # @raise [InvalidArgument] for a key that the block was not asked for; nothing is stored
    # @raise [WaitTimeout] after waiting +wait_timeout+ for others
    # @raise what the block raises
    def get_or_set_many(keys, ttl: ((one = true) && :default),
                        expires_in: ((other = true) && ttl),
                        expires_at: nil, &load)
      expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
      refuse_both unless one || other
      raise InvalidArgument, "get_or_set_many takes a block that loads the values" unless load

      LoadingMany.new(@entries, ManyArguments.keys(keys), expires_in, load).values
    end
    alias fetch_many get_or_set_many

    # @param by [Integer, Float]
    # @param ttl [String, Numeric, nil, :default] for a number that begins now; an existing one
    #   keeps its time to live
    # @param expires_at [Time, nil] when it expires, instead of +ttl+
    # @return [Numeric] the number after it; +by+ where there was none
    # @raise [WrongType] when the value is not an Integer or a finite Float
    # @raise [InvalidArgument] when +by+ or the sum is not
    def increment(key, by = 1, ttl: ((one = true) && :default), expires_in: ((other = true) && ttl),
                  expires_at: nil)
      expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
      refuse_both unless one || other
      @entries.add_number(key, by, expires_in)
    end

    # As +increment+, downwards.
    def decrement(key, by = 1, ttl: ((one = true) && :default), expires_in: ((other = true) && ttl),
                  expires_at: nil)
      expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
      refuse_both unless one || other
      @entries.add_number(key, by.is_a?(Numeric) ? -by : by, expires_in)
    end

    # @return [Float, nil] the seconds that an entry has left, to live or to idle, whichever comes
    #   first; infinity when it does not expire; nil when there is none
    def ttl(key) = @entries.ttl(key)

    # Gives an entry another time to live, from now on, and begins its time to idle anew.
    #
    # @param ttl [String, Numeric, nil, :default] as for +set+
    # @param expires_at [Time, nil] when it expires, instead of +ttl+
    # @return [Boolean] whether it was there
    def touch(key, ttl: ((one = true) && :default), expires_in: ((other = true) && ttl),
              expires_at: nil)
      expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
      refuse_both unless one || other
      @entries.touch(key, expires_in)
    end

    # @return [Entry, nil] the facts of an entry; not counted and not a use
    def entry(key)
      found = @entries.entry(key) or return
      value = @entries.core.out(found.value, found.plan)
      Entry.new(key: found.key, value: value, ttl: found.left(@entries.core.now),
                bytes: found.bytes)
    end

    # @param prefix [String, Symbol]
    # @return [Array<String>] the keys that begin with it, in no order; text where they are valid
    #   UTF-8
    def keys(prefix = "") = @entries.keys_page(prefix).first

    # The entries that are there when it begins.
    #
    # @yieldparam key [String]
    # @yieldparam value [Object]
    # @return [Enumerator, self] the enumerator without a block
    def each
      return enum_for(:each) unless block_given?

      @entries.snapshot.each { |entry| yield entry.key, @entries.core.out(entry.value, entry.plan) }
      self
    end
    include Enumerable

    # Deletes all entries; loads under way are not stored.
    #
    # @return [nil]
    def clear = @entries.clear

    # Frees the expired entries. Every write looks at two of them anyway.
    #
    # @return [Integer] how many there were
    def purge_expired = @entries.purge_expired

    # @return [Integer] entries, with expired ones that are not freed yet
    def size = @entries.core.store.size

    # @return [Integer] what they weigh
    def bytes = @entries.core.store.bytes

    # @return [Hash{Symbol => Integer}] +max_bytes+ is infinite where nothing bounds them
    def stats
      store = @entries.core.store
      Memory::Core::COUNTS.zip(@entries.core.counts).to_h.merge(
        entries: store.size, bytes: store.bytes,
        max_entries: store.max_entries, max_bytes: store.max_bytes
      )
    end

    # Does not show its contents, because it may end up in a log.
    #
    # @return [String]
    def inspect
      store = @entries.core.store
      bound = store.max_bytes
      bytes = ", #{store.bytes} of #{bound} bytes" unless bound == Float::INFINITY
      "#<#{self.class} #{store.size} of #{store.max_entries} entries#{bytes}>"
    end

    MISSING = Object.new.freeze

    # As the tiers of a Cache, for metrics.
    # @private
    class Observed
      attr_reader :observers

      def initialize(cache, observers)
        @cache = cache
        @observers = observers
      end

      def stats = @cache.stats

      # The observers themselves know.
      def heard=(_); end
    end
    private_constant :MISSING, :Observed

    private

    # For metrics.
    def tiers = Observed.new(self, @entries.observers)
  end
end
