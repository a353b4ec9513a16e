# frozen_string_literal: true

module Polycache
  module OpenTelemetry
    # The instruments of a meter, and the caches that report to it.
    #
    # In Ruby the callback of an observable instrument gives one number without attributes. So
    # counters are ordinary ones, which are brought up to date when a collection begins: by the
    # callback of an instrument that has nothing to report itself, and is collected first.
    # @api private
    class Instruments
      # Units and descriptions, as spec/metrics.json has them.
      COUNTERS = {
        "polycache.reads" =>
          ["{read}", "Reads, by what they found and by the tier that answered."],
        "polycache.writes" => ["{write}", "Entries stored."],
        "polycache.deletes" => ["{delete}", "Entries deleted."],
        "polycache.evictions" => ["{entry}", "Entries that left for want of room."],
        "polycache.expirations" => ["{entry}", "Expired entries removed."],
        "polycache.load.invalidated" => [
          "{load}",
          "Loaded values that were not stored because a write or another load came first."
        ],
        "polycache.load.unstored" => ["{load}", "Loaded values that could not be stored."],
        "polycache.load.wait.timeouts" =>
          ["{caller}", "Callers that waited too long for the loads of others."]
      }.freeze
      UP_DOWN_COUNTERS = {
        "polycache.entries" => ["{entry}", "Entries held."],
        "polycache.usage" => ["By", "Bytes that the entries take."],
        "polycache.limit" => ["By", "Bytes that the entries may take."]
      }.freeze
      HISTOGRAMS = {
        "polycache.load.duration" => ["s", "Duration of loaders."],
        "polycache.load.wait.duration" => ["s", "How long callers waited for the loads of others."]
      }.freeze
      # What tells that a collection begins.
      COLLECTION = "polycache.collection"

      @of_meters = ObjectSpace::WeakMap.new
      @lock = Mutex.new

      # @return [Instruments] those of a meter, made once
      def self.of(meter)
        @lock.synchronize do
          next @default ||= new(::OpenTelemetry.meter_provider.meter("polycache")) unless meter

          @of_meters[meter] ||= new(meter)
        end
      end

      def initialize(meter)
        @lock = Mutex.new
        @sources = []
        meter.create_observable_gauge(COLLECTION, callback: method(:collect).to_proc,
                                                  description: "Begins a collection.")
        @counters = made(COUNTERS) { |*of, **how| meter.create_counter(*of, **how) }
        @counters.merge!(
          made(UP_DOWN_COUNTERS) { |*of, **how| meter.create_up_down_counter(*of, **how) }
        )
        histograms = made(HISTOGRAMS) { |*of, **how| meter.create_histogram(*of, **how) }
        @loads, @waits = histograms.values
      end

      # From now on the source is reported.
      def add(source)
        @lock.synchronize { @sources += [source] }
        source.listen(@loads, @waits)
      end

      # It is not, any more.
      # @return [nil]
      def forget(source)
        @lock.synchronize { drop(source) }
        nil
      end

      private

      def made(table)
        table.to_h do |name, (unit, description)|
          [name, yield(name, unit: unit, description: description)]
        end
      end

      # Brings all counters up to date.
      # @return [nil] nothing is reported of this itself
      def collect
        @lock.synchronize do
          @sources.each do |source|
            source.changes { |name, change, attributes| report(name, change, attributes) }
          rescue Closed, WeakRef::RefError
            drop(source)
          end
        end
        nil
      end

      def report(name, change, attributes)
        @counters.fetch(name).add(change, attributes: attributes)
      end

      # What a cache held that is not reported any more, nothing says: it holds nothing.
      def drop(source)
        return unless @sources.any? { |one| one.equal?(source) }

        @sources = @sources.reject { |one| one.equal?(source) }
        source.stop
        source.held(UP_DOWN_COUNTERS) { |name, value, of| report(name, -value, of) }
      end
    end
  end
end
