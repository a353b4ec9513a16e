# frozen_string_literal: true

require_relative "isolation"
require_relative "store"
require_relative "../observers"
require_relative "../unstored"

module Polycache
  module Memory
    # What the namespaces of a memory cache share: bounds and policy, isolation, clock, counts, the
    # lock.
    #
    # *Threads.* Reads take no lock: on CRuby a Hash#[] with a String is one step under the global
    # lock, and the contents of an Entry never change. On other Rubies that is unproven. Changes
    # take the lock, for the time of a few links; no code of users runs under it (loaders,
    # listeners, weigher, clock).
    #
    # *Forks and kills.* A thread may be killed, timed out or lost in a fork in the middle of a
    # change. The next one sees that, and begins with an empty cache: all may be gone, but nothing
    # is ever wrong. (In a child, CRuby itself frees the locks of threads that no longer exist.)
    class Core
      include HandOut

      # The counters.
      COUNTS = %i[
        hits misses writes deletes invalidated_loads unstored wait_timeouts expired evicted
      ].freeze

      # @return [Array<Integer>] where counts of these names stand in +counts+
      def self.values_at(*names) = names.map { |name| COUNTS.index(name) }

      EXPIRED, EVICTED = values_at(:expired, :evicted)
      LATER = { Object => :never }.freeze
      private_constant :EXPIRED, :EVICTED, :LATER

      # By the places that +values_at+ takes.
      attr_reader :counts
      attr_reader :store, :settings, :root, :closed, :unstored, :observers

      # @param settings [Settings]
      # @param isolations [Hash] what its isolation may be, by name
      # @param dated [Boolean] whether entries know when they were written
      def initialize(settings, isolations = Isolation::KINDS, dated: false)
        @settings = settings
        @dated = dated
        @counts = Array.new(COUNTS.size, 0)
        @unstored = Unstored.new(settings.store_errors)
        @observers = Observers.new
        @lock = Mutex.new
        @changing = @closed = false
        @left = []
        @version = 0
        @clock = settings.clock
        @types = settings.types
        @isolation = isolations.fetch(settings.isolation)
        @isolation = Isolation::Weightless if settings.isolation == "none" && !settings.weighs?
        @weigher = settings.weigher
        @store = Store.new(settings.max_entries, settings.max_bytes, settings.policy, method(:left))
        @root = Namespace.new(self, nil)
      end

      # Milliseconds since 1970.
      def now
        @clock ? @clock.call : Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)
      end

      # Changes the store, alone. The block must not run code of users.
      #
      # A thread that is killed while it waits for a Mutex may keep the wake-up that was meant for
      # the next one, which then sleeps for ever: the process does not exit (CRuby's do_mutex_lock).
      # So it wakes the next one itself.
      def change
        entered = result = left = nil
        begin
          @lock.synchronize do
            entered = true
            start_over if @changing
            @changing = true
            result = yield
            left = take_left unless @left.empty?
            @changing = false
          end
        ensure
          wake_next unless entered
        end
        tell(left) if left
        result
      end

      # What is stored of a value, the plan by which it is handed out, its bytes, and whether a
      # reader is given something else than the value.
      # Runs functions of users, for types that are registered.
      # @raise [UnsupportedValue]
      def keep(value) = @isolation.keep(value, @types)

      # An entry that may be stored: it is copied and weighed.
      # @raise [UnsupportedValue, InvalidArgument] for a value, a weight that cannot be
      # @raise [EntryTooLarge]
      #
      # @param ttl [Integer, ExpiresAt, nil] milliseconds, as +time_to_idle+; +expires+, where +ttl+
      #   does not count from now
      def entry(namespace, key, value, ttl, time_to_idle, parts = keep(value), expires: nil)
        kept, plan, bytes = parts
        bytes = weigh(key, value, bytes)
        too_large(bytes) if bytes > @store.max_bytes
        written = now if ttl || time_to_idle || @dated
        times = Times.of(written, ttl, time_to_idle, expires) if ttl || time_to_idle
        Entry.new(namespace, key, kept, plan, bytes, times, written)
      end

      # Frees a few expired entries. Within +change+, before anything is looked up there.
      def sweep(now) = now && @store.sweep(now)

      # A number that was not given out before. Within +change+.
      def next_version = @version += 1

      # The time for a sweep; nil where nothing expires.
      def sweep_time = @store.timed? ? now : nil

      # Removes everything, back to the initial state. Within +change+.
      def clear
        @root.each_nested { |nested| nested.index.each_value { |entry| left(entry, :cleared) } }
        start
      end

      # Nothing is handed out any more.
      def close
        @closed = true
        change { start }
        nil
      end

      private

      # A thread that unlocks wakes the next one.
      def wake_next = Thread.handle_interrupt(LATER) { @lock.synchronize { nil } }

      def too_large(bytes)
        most = @store.max_bytes
        message = "the entry weighs #{bytes} bytes, and all may weigh #{most}"
        raise Error.build("entry_too_large", message, { size: bytes, limit: most })
      end

      def weigh(key, value, bytes)
        return bytes.zero? && !@settings.weighs? ? 0 : bytes + Weigh.key(key) unless @weigher

        weight = @weigher.call(key, value)
        return weight if weight.is_a?(Integer) && !weight.negative?

        raise InvalidArgument,
              "the weigher returned #{weight.inspect}: a weight is a whole number from 0 on"
      end

      def start
        @root.each_nested(&:forget_all)
        @store.start
      end

      # The state that an interrupted change has left is unknown.
      def start_over
        @left = []
        start
      end

      # An entry has left.
      def left(entry, cause)
        @counts[EVICTED] += 1 if cause == :evicted
        @counts[EXPIRED] += 1 if cause == :expired
        @left << [entry, cause] if @settings.removal_listener
      end

      def take_left
        left = @left
        @left = []
        left
      end

      # Every entry is told of, whatever the listener raises: that is warned of, and is neither the
      # caller's error nor that of those who wait for the same load.
      def tell(left)
        left.each do |entry, cause|
          @settings.removal_listener.call(entry.key, out(entry.value, entry.plan), cause)
        rescue StandardError, ScriptError => e
          warn("polycache: the removal_listener raised #{e.full_message(highlight: false)}")
        end
      end
    end
  end
end
