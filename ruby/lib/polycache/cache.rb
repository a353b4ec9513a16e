# frozen_string_literal: true

require_relative "brackets"
require_relative "cache/atomic"
require_relative "cache/many"
require_relative "lease"
require_relative "loading"
require_relative "memoize"
require_relative "memory/build"
require_relative "ttl_option"

module Polycache
  # An open cache: one namespace of a directory that every process of the machine may share.
  #
  # Any number of threads and fibers may use a cache. It goes on working in forked children (Puma,
  # Sidekiq, Process.fork) without being opened again.
  #
  # *Keys* are Strings (text, or bytes with the encoding BINARY) or Symbols, which stand for their
  # text. *Values* are what every language of Polycache has: nil, true, false, Integer, Float,
  # String (text; bytes with the encoding BINARY), Array, Hash with text or Symbol keys (which come
  # back as text), Set, Time (comes back in UTC), BigDecimal, Polycache::UUID, the classes that are
  # registered with +types+, and Polycache::Named for those that are not; with and without a
  # directory. Anything else raises UnsupportedValue, because another class would come back: a
  # Symbol, an instance of a subclass of these, a Hash or Set that compares by identity.
  #
  # *Durations* are text ("250ms", "30s", "5m", "2h", "1d") or seconds as any Numeric.
  #
  # Every method but +close+ raises Closed after +close+; methods that take a key raise InvalidKey.
  class Cache
    extend Brackets::Inherited
    include Atomic
    include Many
    include Memoize
    include TtlOption

    # Options and their defaults (see +new+).
    OPTIONS = {
      path: nil, namespace: nil, ttl: nil, time_to_idle: nil, jitter: nil, limit: nil, mode: nil,
      serializer: "messagepack", compressor: "none", dictionaries: nil, encryption: nil,
      types: nil, lease_timeout: "30s", wait_timeout: "60s", store_errors: "report",
      empty_at_boot: false, flush_every: "5s", max_value: "64MiB", memory: nil, name: nil,
      clock: nil, remote: nil, timeout: nil, max_staleness: nil, prefix: nil
    }.freeze

    # The result of +entry+. +ttl+ is seconds left (infinity: it does not expire); +created+ and
    # +expires+ are milliseconds since 1970 (nil: it does not); +size+ is the bytes as stored, with
    # the header; +serializer+ and +compressor+ are names; +version+ is for +compare_and_set+: each
    # write and each +touch+ gives the entry another one, an Integer from 0 to 2**64 - 1. Without a
    # directory nothing becomes bytes: +size+ is then what the entry weighs in memory, and the names
    # are nil.
    Entry = Struct.new(:value, :ttl, :created, :expires, :size, :serializer, :compressor, :version, # rubocop:disable Lint/StructNewOverride
                       keyword_init: true)

    # Stands for "no entry" where nil may be a value: <tt>cache.get(key, MISSING)</tt>.
    MISSING = Object.new
    def MISSING.inspect = "Polycache::Cache::MISSING"
    MISSING.freeze

    # The block of +update+ returns it to delete the key.
    DELETE = Object.new
    def DELETE.inspect = "Polycache::Cache::DELETE"
    DELETE.freeze

    # The block of +update+ returns it to leave the key as it is.
    LEAVE = Object.new
    def LEAVE.inspect = "Polycache::Cache::LEAVE"
    LEAVE.freeze

    # Opens a cache; with a block, closes it when the block ends.
    #
    # @param options what +new+ takes
    # @yieldparam cache [Cache]
    # @return [Cache, Object] the cache, or what the block returns
    def self.open(**options)
      cache = new(**options)
      return cache unless block_given?

      begin
        yield cache
      ensure
        cache.close
      end
    end

    # @param path [String, Pathname] the directory of the cache, created if it is missing. Default:
    #   none; the cache is the memory tier alone, inside this process.
    # @param namespace [String, Symbol, Array<String>, nil] one part, or several. Default: nil.
    # @param ttl [String, Numeric, nil] how long an entry lives if its write does not say; nil is
    #   until it is evicted. +expires_in+ is another name for it. Default: nil.
    # @param time_to_idle [String, Numeric, nil] how long an entry stays without a read, by whatever
    #   process: it expires when it was neither read nor written for that long; with +ttl+, too,
    #   whichever ends first counts. +peek+, +entry+, +has?+, +ttl+ and +keys+ are no use of it.
    #   Over a directory a read prolongs an entry when an eighth of the time has passed, by one
    #   write, and an entry lives up to an eighth longer than this, never less. It keeps the time
    #   that it was written with. Default: nil.
    # @param jitter [String, Numeric, nil] by how much +ttl+ is shortened, at random for each write,
    #   so that what is written together does not expire together: a number from 0 to below 1 is a
    #   part of it, else a duration below it; 1, which could be either, is refused. A time to live
    #   that a write gives is taken as it is. Default: nil.
    # @param limit [Integer, String, nil] bytes of everything in the directory, or text like
    #   "64MiB"; nil is the existing directory's limit, or 256 MiB. Default: nil.
    # @param mode [Integer, nil] permission bits of the cache's files, as of open(2): 0o600 is for
    #   this user alone, 0o660 for the users of a group, 0o640 for one user that writes and a group
    #   that reads, and 0o664 and 0o644 let every user read. With more than 0o600 the files get the
    #   group of +path+, and a cache is used that another user made: one of a group that this
    #   process is in or, with 0o664 and 0o644, of any. The owner's processes change an existing
    #   directory's. nil is the existing directory's, or 0o600 for a new one. Default: nil.
    # @param serializer [String, Symbol] "messagepack" takes every value; "json", "text", "bytes".
    #   Default: "messagepack".
    # @param compressor [String, Symbol] "none", "smart" (zstd where it is worth it,
    #   value by value), "zstd", or "zstd:1" to "zstd:22". Default: "none".
    # @param dictionaries [Array<String>, nil] trained zstd dictionaries for the compressor, "smart"
    #   or zstd: with one, values of a few hundred bytes get smaller, too. The first compresses, all
    #   of them decompress, so that a new one can take over. <tt>polycache train-dictionary</tt>
    #   makes one from samples. An entry whose dictionary is missing here raises UnknownDictionary.
    #   Default: nil.
    # @param encryption [Array<Hash>, nil] keys for AES-256-GCM, with which values are encrypted,
    #   each <tt>{ id: Integer, key: String }</tt> with an id of 0 to 2**32 - 1 and 32 random bytes
    #   with the encoding BINARY (+SecureRandom.bytes+). The first encrypts, all of them decrypt, so
    #   that keys can be changed. Plain entries then raise NotEncrypted. Keys of the cache, sizes
    #   and times stay readable. One key is good for 2**32 entries. nil: values are not encrypted.
    #   Default: nil.
    # @param lease_timeout [String, Numeric] how old a load may be before a caller stops waiting for
    #   it and loads beside it, 63 ms to 8 h. Default: "30s".
    # @param wait_timeout [String, Numeric] how long a caller waits for the loads of others before
    #   it gets WaitTimeout, 1 ms to 24 h. Default: "60s".
    # @param store_errors [String, Symbol] what happens to a loaded value that cannot be stored:
    #   "report" (its caller gets it, +stats+ counts it as +:unstored+, and one warning is given) or
    #   "raise" (the error of +set+). Default: "report".
    # @param types [Hash, nil] classes of the program by name, whose instances may be values and
    #   parts of them: <tt>{ "user" => User, "point" => Polycache::Type.new(Point, ...) }</tt>. Give
    #   a Struct or a Data itself, any other class as a Type with its functions. A value is stored
    #   as the name and what +encode+ makes of it. +decode+ makes each reader an object of its own
    #   of that; other languages use the class that is registered there under the same name. A
    #   reader that has not registered the name gets a Named. Instances of subclasses are not
    #   stored. The +serializer+ has to be "messagepack". With the isolation "none" and without a
    #   path nothing is encoded. Default: nil.
    # @param empty_at_boot [Boolean] empties the directory when this process is the first to open it
    #   since the machine started, and it was never opened without this option. Otherwise the cache
    #   is kept. Default: false.
    # @param flush_every [String, Symbol, Numeric] how often what was changed is written to the
    #   disk, 100 ms to 24 h, by a thread in the background. A power loss undoes what was changed
    #   since, and no more. With "never" it undoes what the kernel had not written by itself (on
    #   Linux mostly within half a minute), and what was deleted or cleared in that time may be
    #   back. Default: "5s".
    # @param max_value [Integer, String] the most bytes of a value, uncompressed, that is written or
    #   read, or text like "16MiB". Each number and text in it counts for 4 bytes at least,
    #   each Array, Hash and other compound value for 16; for these counts the limit is 4 MiB or
    #   more. Default: "64MiB".
    # @param memory [Hash, Boolean, nil] options of the memory tier, which hands out objects that
    #   were read before without decoding: +max_entries+ (10,000), +max_bytes+ (64 MiB), +policy+
    #   ("2q-clock", "lru"), +isolation+ ("clone", "freeze", "none"), as for MemoryCache. With nil
    #   there is one only without a path: over a directory it pays for values that are read about
    #   ten times or more between two writes, because Ruby takes several microseconds to keep one.
    #   Default: nil.
    # @param name [String, Symbol, nil] what metrics call the cache and the caches of its nested
    #   namespaces (<tt>require "polycache/opentelemetry"</tt>); nil is the namespace, its parts
    #   joined by "::", or "default". Default: nil.
    # @param remote [String, Object, nil] the Redis or Valkey by which the cache is shared with
    #   other machines: a URL ("redis://localhost:6379/0", "rediss://...",
    #   "unix:///run/redis.sock"), or a client: of the gem redis-client (a RedisClient, its pool or
    #   its config; one of a Sentinel or a Cluster), or of redis-rb (a Redis). A client's settings
    #   are copied; its connections are neither used nor changed. What this machine has read stands
    #   in +path+, too, or in this process' memory where there is no path, and is served from there
    #   for as long as the server tells of every write. With +memory+ and no path its
    #   +max_entries+ and +max_bytes+ bound these copies. nil: the cache is this machine's alone.
    #   Default: nil.
    # @param timeout [String, Numeric, nil] how long the server may take to answer a command, 1 ms
    #   to 60 s. Then a read is a miss, a loaded value is handed out and not stored, and a write
    #   raises RemoteUnavailable. Default: "250ms".
    # @param max_staleness [String, Numeric, nil] how far a read may be behind writes of other
    #   machines, 10 ms to an hour, when a connection has died in silence; otherwise it is as far
    #   behind as the server's message takes. With 0 every read asks the server. Default: "1s".
    # @param prefix [String, Symbol, nil] what the names of the cache's keys on the server begin
    #   with, followed by a colon, without { and }. Default: "polycache".
    # @param clock [#call, nil] returns milliseconds since 1970, for tests; nil is the system's.
    #   Default: nil.
    # @raise [InvalidArgument] for an unknown option or a wrong value
    # @raise [UnsupportedFilesystem, UnsupportedVersion, UnsupportedPlatform,
    #   ForeignDirectory, TooManyParticipants, NoSpace, IoError]
    def initialize(**options)
      options = with_one_ttl(options)
      refuse_unknown(options.keys - OPTIONS.keys, OPTIONS.keys)
      name = check_name(options.delete(:name))
      @tiers = Memory::Build.tiers(options, OPTIONS.except(:memory))
      @reader = Memory::Build.reader(@tiers)
      @namespace = Array(options[:namespace]).map(&:to_s)
      @name = name || (@namespace.empty? ? "default" : @namespace.join("::"))
    end

    # @return [String] what metrics call the cache: the option +name+, which nested namespaces share
    attr_reader :name

    # Reads a key.
    #
    # @param key [String, Symbol]
    # @param default [Object] the answer when there is no entry
    # @return [Object, nil] its value
    # @raise [WrongType] for a value that the +decode+ of its type does not accept
    # @raise [ValueTooLarge, MalformedEntry, UnsupportedVersion, UnsupportedFlags,
    #   UnsupportedSerializer, UnsupportedCompressor, UnknownDictionary, NotEncrypted,
    #   UnknownEncryptionKey, DecryptionFailed] for an entry that cannot be read
    def get(key, default = nil) = @reader.get(key, default)
    alias [] get

    # As +get+, but not a use of the entry: it is neither counted nor marked as read, and memory
    # does not keep it.
    #
    # @param key [String, Symbol]
    # @param default [Object] the answer when there is no entry
    # @return [Object, nil] its value
    # @raise what +get+ raises
    def peek(key, default = nil) = @tiers.peek(key, default)

    # The value of a key with the facts of its entry. Not a use of it.
    #
    # @param key [String, Symbol]
    # @return [Entry, nil] nil when there is none
    # @raise what +get+ raises
    def entry(key)
      facts = @tiers.facts(key)
      Entry.new(**facts) if facts
    end

    # Stores a value. Every read on this machine that begins after it returned sees it or a later
    # one.
    #
    # @param key [String, Symbol]
    # @param value [Object]
    # @param ttl [String, Numeric, nil, :default] how long it lives: nil is for ever, :default
    #   the cache's own +ttl+. +expires_in+ is another name for it
    # @param expires_at [Time, nil] when it expires, to the millisecond, instead of +ttl+. An entry
    #   whose time has passed has expired
    # @return [nil]
    # @raise [UnsupportedValue, InvalidArgument] and nothing has changed
    # @raise [EntryTooLarge, NoSpace, IoError] and the old value is gone as well
    def set(key, value, ttl: ((one = true) && :default),
            expires_in: ((other = true) && ttl), expires_at: nil, **unknown)
      expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
      refuse_both unless one || other
      refuse_unknown(unknown.keys) unless unknown.empty?
      @tiers.set(key, value, expires_in)
    end

    # <tt>cache[key] = value</tt>
    def []=(key, value)
      @tiers.set(key, value, :default)
    end

    # Gives an entry another time to live, from now on. The value is not decoded. A +set+, +delete+
    # or +clear+ meanwhile wins.
    #
    # @param key [String, Symbol]
    # @param ttl [String, Numeric, nil, :default] as for +set+; +expires_in+ is another name for it
    # @param expires_at [Time, nil] when it expires, instead of +ttl+
    # @return [Boolean] whether there was an entry
    # @raise [InvalidArgument], and for an entry that cannot be read what +get+ raises
    def touch(key, ttl: ((one = true) && :default),
              expires_in: ((other = true) && ttl), expires_at: nil,
              **unknown)
      expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
      refuse_both unless one || other
      refuse_unknown(unknown.keys) unless unknown.empty?
      @tiers.touch(key, expires_in)
    end

    # Deletes a key and returns its value: of several callers on this machine, one gets it.
    # Invalidates all loads of the key under way.
    #
    # @param key [String, Symbol]
    # @param default [Object] the answer when there is no entry
    # @return [Object, nil] its value
    # @raise what +get+ raises; such an entry stays
    def take(key, default = nil) = @tiers.take(key, default)

    # Deletes a key, and invalidates all loads of it under way.
    #
    # @param key [String, Symbol]
    # @return [Boolean] whether it had an entry
    def delete(key) = @tiers.delete(key)

    # @param key [String, Symbol]
    # @return [Boolean] whether there is an entry, nil included
    def has?(key) = @tiers.has(key)
    alias exist? has?
    alias key? has?

    # Reads a key; when there is no entry, runs the block and stores its result. Of all callers on
    # this machine, in every language, one runs its block; the others wait for the value without
    # blocking other threads (or, under a Fiber scheduler, other fibers). All of them get what a
    # reader would get, each its own value.
    #
    # A +set+, +delete+ or +clear+ during the load wins: the loaded value is returned and not
    # stored. When a block raises, the callers of its process that waited for it get its error. If a
    # caller is killed or timed out, another loads at once. A load that takes longer than
    # +lease_timeout+ goes on, but one caller loads beside it; the first of the two is stored. A
    # block that asks for its own key raises InvalidArgument.
    #
    # +fetch+ is another name for it, known from ActiveSupport.
    #
    # @param key [String, Symbol]
    # @param ttl [String, Numeric, nil, :default] as for +set+; +expires_in+ is another name for it
    # @param expires_at [Time, nil] when it expires, instead of +ttl+
    # @yieldreturn [Object] the value
    # @return [Object] the value
    # @raise [WaitTimeout] after waiting +wait_timeout+ for others
    # @raise what the block raises; what +get+ raises
    def get_or_set(key, ttl: ((one = true) && :default),
                   expires_in: ((other = true) && ttl), expires_at: nil,
                   **unknown, &load)
      expires_in = instead_of_ttl(one && other, expires_at) unless expires_at.nil?
      refuse_both unless one || other
      refuse_unknown(unknown.keys) unless unknown.empty?
      value = @tiers.fetch(key, expires_in, nil, Loading::BUSY, &load)
      return value unless Loading::BUSY.equal?(value)

      Loading.wait(@tiers, key, expires_in, &load)
    end
    alias fetch get_or_set

    # A lock by a key's name, for callers that make values: see Lease.
    #
    # @param key [String, Symbol]
    # @return [Lease]
    def lease(key) = Lease.new(@tiers, key)

    # @param key [String, Symbol]
    # @return [Float, nil] the seconds that its entry has left, infinity when it does not expire;
    #   nil when there is no entry
    def ttl(key) = @tiers.ttl(key)

    # The keys of this namespace (not of nested ones) that begin with +prefix+, in no order, looked
    # up page by page. Text where it is valid UTF-8, otherwise bytes.
    #
    # @param prefix [String, Symbol]
    # @yieldparam key [String]
    # @return [Enumerator<String>, self] the enumerator without a block
    def keys(prefix = "", &block)
      return enum_for(:keys, prefix) unless block

      cursor = 0
      while cursor
        page, cursor = @tiers.keys_page(prefix, cursor)
        page.each(&block)
      end
      self
    end

    # Clears this namespace and those nested in it, in constant time; loads under way are not
    # stored.
    #
    # @return [nil]
    def clear = @tiers.clear

    # @return [Hash{Symbol => Integer}] what the directory holds and what this handle did
    def stats = @tiers.stats

    # What all processes of the machine, in all languages, did with the directory since it was made,
    # what it holds, and which processes have it open. Walks the index, which takes milliseconds.
    # Hits of other processes may be a few behind.
    #
    # @return [Hash, nil] +:since+ (when the directory was made, in milliseconds since 1970), counts
    #   as in +stats+, +:loads+ (loaders that began), +:failed_loads+ (those without a value), and
    #   +:processes+, an Array of hashes with +:pid+, +:handles+, +:since+ and the process' counts;
    #   nil without a directory
    def machine_stats = @tiers.machine_stats

    # What this handle did with its server (option +remote+), and how that is.
    #
    # @return [Hash, nil] +:near_hits+ (reads that a copy on this machine answered), +:remote_hits+
    #   (those that the server answered), +:round_trips+ (of operations), +:faults+ (reads, writes
    #   and loads without an answer), +:last_fault+ (what the last one was about; empty: there was
    #   none), +:is_open+ (after several faults commands fail at once for a moment), +:listens+
    #   (copies are served: this machine hears of all writes), +:lag+ (seconds that copies may be
    #   behind; nil: none are served), +:refuses_tracking+ (the server does not tell of writes, so
    #   every read asks it); nil without a server
    def remote_stats = @tiers.remote_stats

    # The namespaces of the directory whose entries take the most space, the largest first. Reads
    # every key: about 0.2 µs for each entry.
    #
    # @param most [Integer] how many namespaces at most. Default: 10.
    # @return [Array<Hash>, nil] hashes with +:namespace+ (its parts), +:entries+ and +:bytes+; nil
    #   without a directory
    # @raise [InvalidArgument] when +most+ is not an Integer from 0 to 2^32 - 1
    def usage(most = 10)
      unless most.is_a?(Integer) && most.between?(0, (2**32) - 1)
        raise InvalidArgument, "most is an Integer from 0 to 2^32 - 1, not #{most.inspect}"
      end

      @tiers.usage(most)
    end

    # Verifies every entry of the whole directory against its checksums.
    #
    # @return [Hash] +:whole+ entries, +:damaged+ ones (an Array of reasons), +:leases+ (loads
    #   under way)
    def check = @tiers.check

    # Writes everything to the disk, and waits for it: a power loss undoes nothing that was
    # done before.
    #
    # @return [nil]
    # @raise [IoError]
    def flush = @tiers.flush

    # Closes the cache with all its namespaces. Closing again does nothing.
    #
    # @return [nil]
    def close = @tiers.close

    # @return [Boolean]
    def closed? = @tiers.closed?

    # The cache of a namespace nested in this one, over the same handle: closing either closes both.
    #
    # @param part [String, Symbol]
    # @return [Cache]
    # @raise [InvalidArgument] when it is empty
    def namespace(part)
      dup.rebind(@tiers.namespace(part), [*@namespace, part.to_s])
    end

    # @return [String, nil] the directory, absolute
    def path = @tiers.path

    # Shows neither contents nor encryption keys, because it may end up in a log.
    #
    # @return [String]
    def inspect
      where = "path=#{path.inspect}" if path
      where ||= remote_stats ? "remote" : "in memory"
      parts = @namespace.size > 1 ? @namespace : @namespace.first
      "#<#{self.class} #{where}#{" namespace=#{parts.inspect}" if parts}#{" (closed)" if closed?}>"
    end

    private

    # For metrics.
    attr_reader :tiers

    def check_name(name)
      return name&.to_s if name.nil? || name.is_a?(String) || name.is_a?(Symbol)

      raise InvalidArgument, "name is text, not #{name.inspect}"
    end

    protected

    def rebind(tiers, namespace)
      @tiers = tiers
      @reader = Memory::Build.reader(tiers)
      @namespace = namespace
      self
    end
  end
end
