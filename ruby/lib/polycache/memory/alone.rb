# frozen_string_literal: true

require_relative "entries"

module Polycache
  module Memory
    # What a Cache without a directory has in the place of Native::Cache: its entries, and the
    # calls that concern all of them.
    class Alone
      # @param entries [Entries] those of its namespace
      def initialize(entries)
        @entries = entries
        @core = entries.core
      end

      def get(key, default) = @entries.get(key, default)
      def set(key, value, ttl) = @entries.set(key, value, ttl)
      def delete(key) = @entries.delete(key)
      def has(key) = @entries.has(key)
      def ttl(key) = @entries.ttl(key)
      def fetch(key, ttl, busy, &load) = @entries.fetch(key, ttl, busy, &load)
      def keys_page(prefix, cursor) = @entries.keys_page(prefix, cursor)
      def clear = @entries.clear
      def namespace(part) = Alone.new(@entries.namespace(part))
      def closed? = @core.closed

      def close
        @core.close
      end

      # There is no directory.
      def path = nil

      def flush
        @entries.check_open
        nil
      end

      # There are no bytes that could be damaged.
      def check
        @entries.check_open
        { whole: @core.store.size, damaged: [], leases: @entries.count_loads }
      end

      def stats
        @entries.check_open
        store = @core.store
        hits, misses, writes, deletes, voided_fills, expired, evicted = @core.counts
        {
          hits: hits, memory_hits: hits, misses: misses, writes: writes, deletes: deletes,
          voided_fills: voided_fills, entries: store.size, bytes: store.bytes,
          limit: store.max_bytes, max_record: store.max_bytes, evicted_by_age: evicted,
          evicted_by_conflict: 0, evicted_by_failed_put: 0, expired: expired, reinserted: 0,
          blocks_claimed: 0, floor_overflows: 0
        }
      end
    end
  end
end
