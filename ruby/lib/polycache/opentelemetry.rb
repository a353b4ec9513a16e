# frozen_string_literal: true

begin
  require "opentelemetry-metrics-api"
rescue LoadError
  raise LoadError,
        "polycache/opentelemetry needs the gem opentelemetry-metrics-api: add it to the Gemfile"
end
require "weakref"

require_relative "../polycache"
require_relative "opentelemetry/instruments"
require_relative "opentelemetry/source"

module Polycache
  # Metrics of caches for OpenTelemetry. Their names, units and attributes: spec/metrics.md.
  #
  #   require "polycache/opentelemetry"
  #
  #   metrics = Polycache::OpenTelemetry.observe(cache)
  #
  # It needs the gem opentelemetry-metrics-api; a program that has no SDK set up gets nothing. The
  # SDK is opentelemetry-metrics-sdk 0.8 or newer.
  module OpenTelemetry
    # The metrics of one cache, until they are closed.
    class CacheMetrics
      # @api private
      def initialize(instruments, source)
        @instruments = instruments
        @source = source
      end

      # Ends the metrics of this cache; closing again does nothing. The cache stays open.
      #
      # @return [nil]
      def close = @instruments.forget(@source)
    end

    # Reports a cache to OpenTelemetry until the result is closed or the cache is gone.
    #
    # A hit costs what it costs without metrics. A collection reads the statistics of the cache
    # once, in the thread that collects; over a directory that walks its index, which takes
    # milliseconds. All namespaces of the handle are reported together, so one call for one of them
    # is enough. Nothing keeps the cache alive, and nothing is raised for a closed one.
    #
    # @param cache [Cache, MemoryCache]
    # @param meter [::OpenTelemetry::Metrics::Meter, nil] nil is the meter "polycache" of the global
    #   provider, which may be set later. Default: nil.
    # @param name [String, nil] the attribute +polycache.cache.name+, which caches of one process
    #   need to be different. Default: nil; that of the cache, and "default" for a MemoryCache.
    # @return [CacheMetrics]
    # @raise [InvalidArgument] for what is no cache
    # @raise [Closed]
    def self.observe(cache, meter: nil, name: nil)
      source = Source.of(cache, name)
      instruments = Instruments.of(meter)
      instruments.add(source)
      CacheMetrics.new(instruments, source)
    end
  end
end
