# frozen_string_literal: true

# As much of OpenTelemetry's API and SDK for metrics as the tests use, for machines without these
# gems. It does as they do: callbacks run in a thread of their own, before what was made after them
# is collected, and what they raise goes to the error handler.
module OpenTelemetry
  def self.handle_error(exception: nil, message: nil)
    warn("OpenTelemetry: #{message} #{exception&.full_message}")
  end

  module SDK
    module Metrics
      Point = Struct.new(:attributes, :value)
      Recorded = Struct.new(:attributes, :count) # rubocop:disable Lint/StructNewOverride
      Data = Struct.new(:name, :unit, :description, :instrument_kind, :data_points)

      # What the instruments have in common: values by attributes.
      class Instrument
        def initialize(kind, name, unit, description)
          @of = [name, unit, description, kind]
          @values = Hash.new(0)
          @lock = Mutex.new
        end

        def collect
          points = @lock.synchronize { @values.map { |of| point(*of) } }
          Data.new(*@of, points) unless points.empty?
        end

        private

        def update(attributes, by)
          @lock.synchronize { @values[attributes] += by }
          nil
        end

        def point(attributes, value) = Point.new(attributes, value)
      end

      class Counter < Instrument
        def add(amount, attributes: {})
          raise ArgumentError, "a counter only grows" if @of.last == :counter && amount.negative?

          update(attributes, amount)
        end
      end

      class Histogram < Instrument
        def record(_amount, attributes: {}) = update(attributes, 1)

        private

        def point(attributes, value) = Recorded.new(attributes, value)
      end

      class ObservableGauge
        def initialize(callback) = @callback = callback

        def collect
          value = Thread.new { called }.value
          raise "not needed here: a gauge with a value" if value.is_a?(Numeric)
        end

        private

        def called
          @callback.call
        rescue StandardError => e
          OpenTelemetry.handle_error(exception: e, message: "Error invoking callback.")
        end
      end

      class Meter
        attr_reader :instruments

        def initialize(provider)
          @meter_provider = provider
          @instruments = []
        end

        def create_counter(name, unit: nil, description: nil)
          keep(Counter.new(:counter, name, unit, description))
        end

        def create_up_down_counter(name, unit: nil, description: nil)
          keep(Counter.new(:up_down_counter, name, unit, description))
        end

        def create_histogram(name, unit: nil, description: nil)
          keep(Histogram.new(:histogram, name, unit, description))
        end

        def create_observable_gauge(_name, callback:, unit: nil, description: nil) # rubocop:disable Lint/UnusedMethodArgument
          raise ArgumentError, "a callback is a Proc" unless callback.instance_of?(Proc)

          keep(ObservableGauge.new(callback))
        end

        private

        def keep(instrument)
          @instruments << instrument
          instrument
        end
      end

      class MeterProvider
        def initialize = @meters = {}
        def meter(name) = @meters[name] ||= Meter.new(self)
        def add_metric_reader(reader) = reader.provider = self
        def collect = @meters.each_value.flat_map { |one| one.instruments.filter_map(&:collect) }
      end

      module Export
        class InMemoryMetricPullExporter
          attr_writer :provider
          attr_reader :metric_snapshots

          def initialize = @metric_snapshots = []
          def pull = @metric_snapshots.concat(@provider.collect)
          def reset = @metric_snapshots.clear
        end
      end
    end
  end
end
