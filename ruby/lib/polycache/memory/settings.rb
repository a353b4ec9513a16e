# frozen_string_literal: true

require_relative "duration"
require_relative "isolation"
require_relative "lifetime"
require_relative "size"
require_relative "store"
require_relative "../types"

module Polycache
  module Memory
    # The options of a memory tier, checked.
    class Settings
      # Options that bound entries in memory, and choose what is handed out.
      TIER = %i[max_entries max_bytes policy isolation].freeze
      # Further options of a MemoryCache.
      ALL = [
        *TIER, :ttl, :time_to_idle, :weigher, :removal_listener, :lease_timeout, :wait_timeout,
        :store_errors, :types, :clock
      ].freeze
      # Options of a Cache without a directory.
      ALONE = [
        *TIER, :ttl, :time_to_idle, :jitter, :lease_timeout, :wait_timeout, :store_errors, :types,
        :clock
      ].freeze

      MOST_ENTRIES = 2**24
      TIMEOUTS = {
        lease_timeout: ["30s", 63..(8 * 3_600_000), "63 ms to 8 h"],
        wait_timeout: ["60s", 1..(24 * 3_600_000), "1 ms to 24 h"]
      }.freeze
      private_constant :MOST_ENTRIES, :TIMEOUTS

      # @return [Integer, Float] +max_bytes+ is infinite where nothing bounds them
      attr_reader :max_entries, :max_bytes
      # @return [String]
      attr_reader :policy, :isolation
      # @return [Integer, nil] milliseconds
      attr_reader :time_to_idle
      # @return [Float] seconds
      attr_reader :lease_timeout, :wait_timeout
      # @return [String, Symbol] as it was given
      attr_reader :store_errors
      attr_reader :weigher, :removal_listener, :clock
      # @return [Types]
      attr_reader :types

      # @raise [InvalidArgument]
      def initialize(options, known = ALL)
        refuse_unknown(options, known)
        @max_entries = entries(options.fetch(:max_entries, 10_000))
        @max_bytes = bytes(options.fetch(:max_bytes, "64MiB"))
        @policy = one_of(:policy, options.fetch(:policy, "2q-clock"), Store::POLICIES)
        @isolation = one_of(:isolation, options.fetch(:isolation, "clone"), Isolation::KINDS)
        @lifetime = Lifetime.new(options[:ttl], options[:jitter])
        @longest = @lifetime.longest
        @jitters = !@lifetime.spread.zero?
        idle = options[:time_to_idle]
        @time_to_idle = idle && Duration.milliseconds("time_to_idle", idle)
        @lease_timeout = timeout(:lease_timeout, options)
        @wait_timeout = timeout(:wait_timeout, options)
        @store_errors = options.fetch(:store_errors, "report")
        @weigher = callable(:weigher, options[:weigher])
        @removal_listener = callable(:removal_listener, options[:removal_listener])
        @clock = callable(:clock, options[:clock])
        @types = Types.of(options[:types])
      end

      # @return [Integer, nil] milliseconds that an entry lives if its write does not say
      def ttl = @jitters ? @lifetime.next : @longest

      def weighs? = !@weigher.nil? || @max_bytes != Float::INFINITY

      private

      def refuse_unknown(options, known)
        unknown = options.keys - known
        return if unknown.empty?

        raise InvalidArgument, "unknown option #{unknown.join(", ")}: there are #{known.join(", ")}"
      end

      def entries(given)
        return given if given.is_a?(Integer) && given.between?(1, MOST_ENTRIES)

        raise InvalidArgument,
              "max_entries is a whole number from 1 to #{MOST_ENTRIES}, not #{given.inspect}"
      end

      def bytes(given) = given.nil? ? Float::INFINITY : Size.bytes("max_bytes", given)

      def one_of(option, given, known)
        name = given.is_a?(Symbol) ? given.name : given
        return name if known.key?(name)

        raise InvalidArgument, "#{option} is one of #{known.keys.join(", ")}, not #{given.inspect}"
      end

      def timeout(option, options)
        default, range, words = TIMEOUTS.fetch(option)
        given = options.fetch(option, default)
        found = Duration.milliseconds(option.name, given)
        return found / 1000.0 if range.cover?(found)

        raise InvalidArgument, "#{option} is #{words}, not #{given.inspect}"
      end

      def callable(option, given)
        return given if given.nil? || given.respond_to?(:call)

        raise InvalidArgument, "#{option} answers to call, and #{given.inspect} does not"
      end
    end
  end
end
