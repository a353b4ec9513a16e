# frozen_string_literal: true

module Polycache
  module Memory
    # What a Namespace answers beside reads and writes in a Cache without a directory, where they
    # replace Native::Cache.
    module Whole
      def closed? = @core.closed

      def close
        @core.close
      end

      # There is no directory.
      def path = nil

      # The facts of an entry, without a use of it. There are no bytes: +size+ is what it weighs.
      def facts(key)
        entry = entry(key) or return
        { value: @core.out(entry.value, entry.plan), ttl: entry.left(@core.now),
          created: entry.created, expires: entry.times&.ends, size: entry.bytes,
          serializer: nil, compressor: nil, version: version_of(entry) }
      end

      def flush
        check_open
        nil
      end

      # There are no bytes that could be damaged.
      def check
        check_open
        { whole: @core.store.size, damaged: [], leases: count_loads }
      end

      # Nothing: no other process sees this cache.
      def machine_stats = check_open
      def remote_stats = nil

      # Nothing: there is no directory.
      def usage(_most) = check_open

      def stats
        check_open
        store = @core.store
        counts = Core::COUNTS.zip(@core.counts).to_h
        evicted = counts.delete(:evicted)
        counts.merge(
          memory_hits: counts[:hits], entries: store.size, bytes: store.bytes,
          limit: store.max_bytes, max_record: store.max_bytes, evicted_by_age: evicted,
          evicted_by_conflict: 0, evicted_by_failed_put: 0, reinserted: 0, blocks_claimed: 0,
          floor_overflows: 0, failed_flushes: 0
        )
      end

      # Takes the lock of a key's name; nil when another has it. A lock of the process that this one
      # was forked from is free.
      def lock(key)
        check_open
        @core.change do
          held = @locks[key]
          @locks[key] = HeldLock.new(Process.pid) unless held && held.process == Process.pid
        end
      end

      # Gives a lock back.
      def unlock(key, held)
        @core.change { @locks.delete(key) if @locks[key].equal?(held) }
      end

      def locked?(key)
        check_open
        @locks[key]&.process == Process.pid
      end

      # A lock that was acquired.
      HeldLock = Class.new do
        attr_reader :process

        def initialize(process)
          @process = process
        end
      end
      private_constant :HeldLock
    end
  end
end
