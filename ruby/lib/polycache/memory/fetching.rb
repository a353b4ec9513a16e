# frozen_string_literal: true

require_relative "../loading"
require_relative "begun"
require_relative "load"

module Polycache
  module Memory
    # What a Namespace answers to callers that load (Loading describes the interface). The list of
    # loads of this process is the lease. A set, delete or clear removes the key's loads from it,
    # and so does the first load that fills.
    module Fetching
      HITS, MISSES, WRITES, INVALIDATED_LOADS, UNSTORED, WAIT_TIMEOUTS =
        Core.values_at(:hits, :misses, :writes, :invalidated_loads, :unstored, :wait_timeouts)
      MISSING = Object.new.freeze
      LATER = { Object => :never }.freeze
      private_constant(*constants(false))

      # The value; what the block loads, when no other load of the key is open; or +busy+.
      def fetch(key, ttl, _waited, busy)
        unless block_given?
          raise InvalidArgument, "get_or_set takes a block that loads the value"
        end

        check_open
        name = Key.of(key)
        ttl = milliseconds(ttl) unless ttl.equal?(:default)
        while true # rubocop:disable Style/InfiniteLoop
          value = read(@index[name])
          return value unless MISSING.equal?(value)

          load = Load.new
          begin
            begun = list(name, load)
            brought = run(name, load, ttl) { yield } if begun # rubocop:disable Style/ExplicitBlockArgument
          ensure
            # However it was left: by an error, break, throw, a thread that is killed as soon as its
            # load is listed, or when all is done. Interrupts are held back first: CRuby looks for
            # them wherever a method returns.
            Thread.handle_interrupt(LATER) { end_load(name, load) }
          end
          return busy if begun == false
          return given(*brought) if begun
        end
      end

      # The value; a load that the caller begins and ends itself; or +busy+. The load is added to
      # +loads+ before anything could stop its caller.
      def begin_load(key, ttl, _waited, busy, loads)
        check_open
        name = Key.of(key)
        ttl = milliseconds(ttl) unless ttl.equal?(:default)
        while true # rubocop:disable Style/InfiniteLoop
          value = read(@index[name])
          return value unless MISSING.equal?(value)

          loads << Begun.new(self, name, Load.new, ttl)
          begun = list(name, loads.last.load)
          if begun
            @counts[MISSES] += 1
            return loads.last
          end
          loads.pop
          return busy if begun == false
        end
      end

      # Stores what was loaded, and ends the load.
      # @param begun [Begun]
      # @return [Object] what its caller is given
      def fill(begun, loaded)
        begin
          brought = store(begun.name, begun.load, loaded, begun.ttl)
        rescue StandardError, ScriptError => e
          begun.load.landed = Landed.failed(e)
          raise
        ensure
          Thread.handle_interrupt(LATER) { begun.free }
        end
        given(*brought)
      end

      # Takes a load off the list, and tells the callers that joined. Leaves one that is not listed.
      def end_load(name, load)
        return unless load.begun

        leave(name, load)
        flight = load.flight
        Flight.tell([flight], load.landed || Landed::NOTHING) if flight
      end

      # The newest load of the key, and the seconds that it may still be waited for.
      def flight(key, scheduled)
        name = Key.of(key)
        timeout = @core.settings.lease_timeout
        found = @core.change do
          newest = @loads[name] or next
          next :own if newest.any? { |load| load.own?(scheduled) }

          left = newest.left(timeout)
          [newest.join, left] if left.positive?
        end
        return found unless found == :own

        raise InvalidArgument, "the block of get_or_set asks for the key that it loads"
      end

      def copy_of(value)
        @core.out(*@core.keep(value).first(2))
      rescue UnsupportedValue
        value
      end

      def wait_timeout = @core.settings.wait_timeout

      def observers = @core.observers

      # The observers themselves know.
      def heard=(_); end

      def joined(value)
        @counts[HITS] += 1
        value
      end

      def count_absent
        @counts[MISSES] += 1
      end

      def count_wait_timeout
        @counts[WAIT_TIMEOUTS] += 1
      end

      private

      # Lists a load of the caller's; false: another is open; nil: the value is there.
      def list(name, load)
        now = @core.now
        timeout = @core.settings.lease_timeout
        @core.change do
          next if @index[name]&.served?(now)

          newest = @loads[name]
          next false if newest&.left(timeout)&.positive?

          @loads[name] = load.begin(newest&.alive? ? newest : nil)
        end
      end

      # Runs the block, and stores what it returns.
      # @return [Array(Object, Array)] what was loaded, and how it was kept; nil: it was not
      def run(name, load, ttl)
        @counts[MISSES] += 1
        observers = @core.observers
        loaded = observers.heard? ? observers.load { yield } : yield # rubocop:disable Style/ExplicitBlockArgument
        store(name, load, loaded, ttl)
      rescue StandardError, ScriptError => e
        load.landed = Landed.failed(e)
        raise
      end

      # @return [Array(Object, Array)] as +run+
      def store(name, load, loaded, ttl)
        check_open
        parts, load.landed = store_loaded(name, load, loaded, ttl)
        [loaded, parts]
      end

      # @return [Array(Array, Landed)] how it was kept, and what callers that joined are told
      def store_loaded(name, load, loaded, ttl)
        ttl = @core.settings.ttl if ttl.equal?(:default)
        parts = @core.keep(loaded)
        landed = Landed.with(*parts.first(2))
        entry = @core.entry(self, name, loaded, ttl, @core.settings.time_to_idle, parts)
        put_loaded(name, load, entry, landed)
        [parts, landed]
      rescue UnsupportedValue, EntryTooLarge => e
        raise if @core.unstored.raises?

        @counts[UNSTORED] += 1
        @core.unstored.report(e)
        # A value without copies is handed to all itself.
        landed ? [parts, landed] : [nil, Landed.with(loaded, nil)]
      end

      # What a reader would be given; its own object, where that is the same. Callers that joined
      # are not kept waiting for it: functions of users may run.
      def given(loaded, parts)
        return loaded unless parts

        kept, plan, _, changed = parts
        return kept unless plan

        changed ? @core.out(kept, plan) : loaded
      end

      # The first load of the key that fills wakes all callers that wait for it.
      def put_loaded(name, load, entry, landed)
        now = @core.sweep_time
        others = @core.change do
          @core.sweep(now)
          all = @loads[name]
          next unless all&.include?(load)

          @loads.delete(name)
          @core.store.put(entry)
          all.older || !all.equal?(load) ? all.filter_map(&:flight) : []
        end
        @counts[others ? WRITES : INVALIDATED_LOADS] += 1
        Flight.tell(others, landed) unless others.nil? || others.empty?
      end

      # Takes a load off the list, if it is there.
      def leave(name, load)
        return unless @loads[name]

        @core.change do
          newest = @loads[name]
          if newest.equal?(load)
            load.older ? @loads[name] = load.older : @loads.delete(name)
          elsif (newer = newest&.find { |one| one.older.equal?(load) })
            newer.older = load.older
          end
        end
      end
    end
  end
end
