# frozen_string_literal: true

module Polycache
  module OpenTelemetry
    # A cache that is observed, held weakly: by what the caches of its handle have in common, for
    # one of them may go while another stays.
    # @api private
    class Source
      # Records what loads take.
      class Listener
        def initialize(name, loads, waits)
          @name = name
          @loads = loads
          @waits = waits
        end

        def loaded(outcome, seconds)
          @loads.record(seconds, attributes: { "polycache.cache.name" => @name,
                                               "polycache.load.outcome" => outcome })
        end

        def waited(seconds)
          @waits.record(seconds, attributes: { "polycache.cache.name" => @name })
        end
      end
      private_constant :Listener

      # @raise [InvalidArgument, Closed]
      def self.of(cache, name)
        case cache
        when MemoryCache then new(cache.send(:tiers), name || "default", :memory_cache)
        when Cache
          raise Closed, "the cache was closed; open another" if cache.closed?

          new(cache.send(:tiers), name || cache.name, cache.path ? :host : :memory)
        else raise InvalidArgument, "observe takes a cache, not #{cache.class}"
        end
      end

      # @param kind [Symbol] :host, :memory (a Cache without a directory) or :memory_cache
      def initialize(tiers, name, kind)
        @name = name.to_s
        @kind = kind
        @tier = kind == :host ? "host" : "memory"
        observers = tiers.observers
        observers.counts ||= Counts.new(tiers)
        @observers = WeakRef.new(observers)
        # Values by instrument and attributes, as they were reported last.
        @reported = {}
      end

      # The statistics of a handle, and the switch of what hears its loads.
      Counts = Struct.new(:tiers) do
        def call = tiers.stats

        def heard=(heard)
          tiers.heard = heard
        end
      end
      private_constant :Counts

      def listen(loads, waits)
        @listener = Listener.new(@name, loads, waits)
        observers = @observers.__getobj__
        observers.add(@listener)
        observers.counts.heard = true
      end

      def stop
        observers = @observers.__getobj__
        observers.remove(@listener)
        observers.counts.heard = observers.heard?
      rescue WeakRef::RefError
        nil # Nobody loads any more.
      end

      # What has changed since the last time.
      #
      # @yieldparam name [String] of a counter
      # @yieldparam change [Integer]
      # @yieldparam attributes [Hash]
      # @raise [Closed, WeakRef::RefError]
      def changes
        measured(@observers.__getobj__.counts.call) do |name, value, attributes|
          of = [name, attributes]
          before = @reported[of]
          next if before == value

          @reported[of] = value
          change = value - (before || 0)
          # A directory that was made anew counts from 0.
          change = value if change.negative? && !Instruments::UP_DOWN_COUNTERS.key?(name)
          yield name, change, attributes
        end
      end

      # What was reported last of some counters.
      def held(names)
        @reported.each { |(name, attributes), value| yield name, value, attributes if names[name] }
      end

      private

      def measured(stats, &report)
        reads(stats, &report)
        tier(stats, &report)
        evictions(stats, &report)
        loads(stats, &report)
      end

      def reads(stats, &report)
        by_memory = @kind == :host ? stats.fetch(:memory_hits) : stats.fetch(:hits)
        read("memory", "hit", by_memory, &report)
        read("host", "hit", stats.fetch(:hits) - by_memory, &report) if @kind == :host
        read(@tier, "miss", stats.fetch(:misses), &report)
      end

      def read(tier, outcome, value)
        yield "polycache.reads", value, of(tier).merge("polycache.read.outcome" => outcome)
      end

      def tier(stats)
        yield "polycache.writes", stats.fetch(:writes), of(@tier)
        yield "polycache.deletes", stats.fetch(:deletes), of(@tier)
        yield "polycache.expirations", stats.fetch(:expired), of(@tier)
        yield "polycache.entries", stats.fetch(:entries), of(@tier)
        yield "polycache.usage", stats.fetch(:bytes), of(@tier)
        limit = stats.fetch(:limit, Float::INFINITY)
        yield "polycache.limit", limit, of(@tier) unless limit == Float::INFINITY
      end

      def evictions(stats)
        causes =
          case @kind
          when :host
            %w[age conflict failed_put].to_h { |cause| [cause, :"evicted_by_#{cause}"] }
          when :memory then { "room" => :evicted_by_age }
          else { "room" => :evicted }
          end
        causes.each do |cause, name|
          yield "polycache.evictions", stats.fetch(name),
                of(@tier).merge("polycache.eviction.cause" => cause)
        end
      end

      def loads(stats)
        { invalidated: :invalidated_loads, unstored: :unstored, "wait.timeouts": :wait_timeouts }
          .each { |name, stat| yield "polycache.load.#{name}", stats.fetch(stat), of }
      end

      def of(tier = nil)
        own = { "polycache.cache.name" => @name }
        tier ? own.merge("polycache.tier" => tier) : own
      end
    end
  end
end
