# frozen_string_literal: true

require "weakref"
require_relative "conditional"
require_relative "core"
require_relative "duration"
require_relative "entry"
require_relative "fetching"
require_relative "key"
require_relative "whole"

module Polycache
  module Memory
    # The entries of one namespace, and the operations on them. It answers the same calls as
    # Native::Cache, and replaces it in a Cache without a directory.
    class Namespace
      include Conditional
      include Fetching
      include Whole

      HITS, MISSES, WRITES, DELETES = Core.values_at(:hits, :misses, :writes, :deletes)
      MISSING = Fetching.const_get(:MISSING)
      private_constant(*constants(false))

      # Keys to entries, and to loads under way.
      attr_reader :index, :loads
      attr_reader :core

      def initialize(core, parent)
        @core = core
        # Kept, because it refers to this object.
        @parent = parent
        @counts = core.counts
        @index = {}
        @loads = {}
        @locks = {}
        @children = {}
        @fewest = 8
      end

      # The value of a key, or +default+.
      def get(key, default)
        entry = @index[key]
        if entry&.plain
          @counts[HITS] += 1
          entry.marked = true
          return entry.value
        end
        value = read(entry || found(key))
        return value unless MISSING.equal?(value)

        @counts[MISSES] += 1
        default
      end

      # Puts the keys that are there into +found+, as they were given, with their values.
      def get_many(keys, found)
        keys.each do |key|
          value = get(key, MISSING)
          found[key] = value unless MISSING.equal?(value)
        end
        found
      end

      # As +get+, without a use of the entry.
      def peek(key, default)
        entry = found(key)
        entry&.served?(@core.now) ? @core.out(entry.value, entry.plan) : default
      end

      # @param time_to_idle [Integer, nil] milliseconds
      def set(key, value, ttl, time_to_idle = @core.settings.time_to_idle)
        check_open
        key = Key.of(key)
        ttl = milliseconds(ttl)
        entry = make(key, value, ttl, time_to_idle)
        now = @core.sweep_time
        @core.change do
          @core.sweep(now)
          @loads.delete(key)
          @core.store.put(entry)
        end
        @counts[WRITES] += 1
        nil
      end

      # Whether there was an entry that a read would have served.
      def set_many(pairs, ttl)
        pairs.each { |key, value| set(key, value, ttl) }
      end

      def delete_many(keys) = keys.count { |key| delete(key) }

      def delete(key)
        check_open
        key = Key.of(key)
        now = @core.now
        deleted = @core.change { remove(key, now) }
        @counts[DELETES] += 1 if deleted
        deleted
      end

      # Deletes the key and gives its value, or +default+. The reader's value is made first, because
      # that may fail, and runs functions of users.
      def take(key, default)
        check_open
        key = Key.of(key)
        loop do
          entry = @index[key]
          now = @core.now
          served = entry&.served?(now)
          value = served ? @core.out(entry.value, entry.plan) : default
          done = @core.change do
            current = @index[key]
            next false unless served ? current.equal?(entry) : !current&.served?(now)

            remove(key, now)
            true
          end
          next unless done

          @counts[DELETES] += 1 if count(served)
          return value
        end
      end

      # Deletes the keys that begin with +prefix+.
      # @return [Integer] how many entries a read would have served
      def delete_prefix(prefix)
        check_open
        prefix = Key.of(prefix).b
        names = @index.keys.select { |name| name.b.start_with?(prefix) }
        names.count { |name| delete(name) }
      end

      def has(key)
        entry = found(key)
        count(entry&.served?(@core.now))
      end

      # Seconds left, infinity, or nil for a miss.
      def ttl(key)
        entry = found(key)
        now = @core.now
        return unless count(entry&.served?(now))

        entry.left(now)
      end

      # Gives an entry another time to live, from now on.
      # @return [Boolean] whether it was there
      def touch(key, ttl)
        check_open
        key = Key.of(key)
        ttl = milliseconds(ttl)
        now = @core.now
        @core.change do
          entry = @index[key]
          next false unless entry&.served?(now)

          @core.store.renew(entry, entry.renewed(now, ttl))
          true
        end
      end

      # Adds to a number, or stores +by+ if there is none. Atomic for other threads.
      def add_number(key, by, ttl)
        check_open
        key = Key.of(key)
        unless number?(by)
          raise InvalidArgument, "a number is changed by a number, not by #{by.inspect}"
        end

        fresh = milliseconds(ttl)
        loop do
          sum = try_to_add(key, by, fresh)
          return sum if sum
        end
      end

      # The facts of an entry, without a use of it.
      def entry(key)
        entry = found(key)
        entry if entry&.served?(@core.now)
      end

      # The entries that a read would serve, at one moment.
      def snapshot
        check_open
        entries = @index.values
        now = @core.now if entries.any?(&:times)
        entries.select { |entry| entry.served?(now) }
      end

      # Keys that begin with +prefix+, in one page: there is no cursor for another.
      def keys_page(prefix, _cursor = 0)
        check_open
        prefix = Key.of(prefix).b
        keys = snapshot.map(&:key)
        keys.select! { |key| key.b.start_with?(prefix) } unless prefix.empty?
        [keys, nil]
      end

      # Clears this namespace and those nested in it.
      def clear
        check_open
        @core.change do
          if @parent
            each_nested do |nested|
              nested.index.values.each { |entry| @core.store.remove(entry, :cleared) } # rubocop:disable Style/HashEachMethods
              nested.loads.clear
            end
          else
            @core.clear
          end
        end
        nil
      end

      # Frees what has expired, now.
      # @return [Integer] how many entries
      def purge_expired
        check_open
        now = @core.now
        @core.change { @core.store.sweep(now, @core.store.timed) }
      end

      # The namespace nested in this one; there is one of each name.
      def namespace(part)
        check_open
        part = Key.part(part)
        @core.change do
          child_of(part) || Namespace.new(@core, self).tap do |child|
            @children[part] = WeakRef.new(child)
            forget_namespaces if @children.size > @fewest
          end
        end
      end

      # This namespace and those nested in it, as many as there are. Within Core#change.
      def each_nested(&block)
        yield self
        @children.each_key { |part| child_of(part)&.each_nested(&block) }
      end

      def forget_all
        @index.clear
        @loads.clear
      end

      # @return [Integer] loads under way
      def count_loads
        loads = 0
        @core.change do
          @core.root.each_nested { |nested| loads += nested.loads.sum { |_, load| load.count } }
        end
        loads
      end

      def check_open
        raise Closed, "the cache was closed: open another" if @core.closed
      end

      # A policy that keeps an order is told of a hit.
      def use(entry)
        @core.change { @core.store.hit(entry) if @index[entry.key].equal?(entry) }
      end

      private

      # The entry of a key written in any way, whatever the time.
      def found(key)
        check_open
        @index[Key.of(key)]
      end

      # The value of an entry that is served, or MISSING.
      def read(entry)
        return MISSING unless entry

        if (times = entry.times)
          now = @core.now
          return expired(entry, now) unless times.used?(now)
        end
        @core.store.ordered? ? use(entry) : entry.marked = true
        @counts[HITS] += 1
        @core.out(entry.value, entry.plan)
      end

      def expired(entry, now)
        if entry.over?(now)
          @core.change { @core.store.remove(entry, :expired) if @index[entry.key].equal?(entry) }
        end
        MISSING
      end

      # The entry of a value; one that is too large deletes the one that it was to replace.
      def make(key, value, ttl, time_to_idle, expires = nil)
        @core.entry(self, key, value, ttl, time_to_idle, expires: expires)
      rescue EntryTooLarge
        @core.change do
          @loads.delete(key)
          old = @index[key]
          @core.store.remove(old, :replaced) if old
        end
        raise
      end

      # Takes out the key's entry, and invalidates its loads. Within Core#change.
      # @return [Boolean] whether it was served
      def remove(key, now)
        @loads.delete(key)
        entry = @index[key] or return false
        served = entry.served?(now)
        @core.store.remove(entry, served ? :deleted : :expired)
        served
      end

      def count(found)
        @counts[found ? HITS : MISSES] += 1
        found ? true : false
      end

      def milliseconds(ttl)
        return @core.settings.ttl if ttl.equal?(:default)

        ttl.nil? || ttl.is_a?(ExpiresAt) ? ttl : Duration.milliseconds("ttl", ttl)
      end

      def number?(value) = value.is_a?(Integer) || (value.is_a?(Float) && value.finite?)

      # @raise [WrongType, InvalidArgument]
      def sum_of(value, by)
        unless number?(value)
          message = "$: only an Integer or a finite Float can be counted up and down"
          raise Error.build("wrong_type", message, { path: "$" })
        end
        sum = value + by
        return sum if number?(sum)

        raise InvalidArgument, "the sum is too large for a Float: nothing is added"
      end

      # @return [Numeric, nil] the sum; nil when another changed the key meanwhile
      def try_to_add(key, by, fresh)
        now = @core.now
        old = @index[key]
        old = nil unless old&.served?(now)
        sum = old ? sum_of(old.value, by) : by
        entry = if old
                  times = old.times
                  make(key, sum, times&.ttl, times&.time_to_idle, times&.expires)
                else
                  make(key, sum, fresh, @core.settings.time_to_idle)
                end
        done = @core.change do
          current = @index[key]
          next false unless old ? current.equal?(old) : !current&.served?(now)

          @loads.delete(key)
          @core.store.put(entry)
          true
        end
        @counts[WRITES] += 1 if done
        done ? sum : nil
      end

      def child_of(part)
        @children[part]&.__getobj__
      rescue WeakRef::RefError
        nil
      end

      # Programs may open any number of namespaces, one after the other: those no longer held go.
      def forget_namespaces
        @children.select! { |part, _| child_of(part) }
        @fewest = [8, 2 * @children.size].max
      end
    end
  end
end
