# frozen_string_literal: true

require_relative "../cache"
require_relative "../memory/duration"
require_relative "../memory/settings"
require_relative "../remote_client"

module Polycache
  module Reads
    # Where replies are kept, by the options of Polycache.cached.
    class Opened
      # Of the cache that is opened for the reads.
      OF_A_CACHE = %i[path limit mode max_staleness timeout prefix].freeze
      OPTIONS = [*OF_A_CACHE, :prefixes, :memory].freeze
      # No caller is given what was read longer ago: seconds.
      LONGEST = 1.0
      # Of a given cache the bound is not known here: the lowest that there is.
      LOWEST = 0.01
      private_constant :OF_A_CACHE, :OPTIONS, :LONGEST, :LOWEST

      # @return [Native::Cache]
      attr_reader :native
      # @return [Memory::Settings]
      attr_reader :memory
      # @return [Array<String>] as they were given
      attr_reader :prefixes
      # @return [Float] seconds
      attr_reader :joins_within

      # @raise [InvalidArgument]
      def initialize(way, cache, options)
        refuse_unknown(options, cache)
        @prefixes = checked_prefixes(options.fetch(:prefixes, [""]))
        @memory = settings(options[:memory])
        @own = open_cache(way, options) unless cache
        @cache = cache || @own
        @native = native_of(@cache)
        @joins_within = @own ? staleness(options.fetch(:max_staleness, "1s")) : LOWEST
      end

      # Closes what was opened for the reads.
      def close = @own&.close

      private

      def refuse_unknown(options, cache)
        known = cache ? OPTIONS - OF_A_CACHE : OPTIONS
        unknown = options.keys - known
        return if unknown.empty?

        raise InvalidArgument, "unknown option #{unknown.join(", ")}: there are #{known.join(", ")}"
      end

      def checked_prefixes(prefixes)
        return prefixes if prefixes.is_a?(Array) && prefixes.any? && prefixes.all?(String)

        raise InvalidArgument,
              "prefixes is a list of texts that keys begin with; [\"\"] for all keys"
      end

      def settings(memory)
        unless memory.nil? || memory.is_a?(Hash)
          raise InvalidArgument, "memory is a Hash of options, not #{memory.inspect}"
        end

        Memory::Settings.new({ isolation: "freeze", **(memory || {}) }, Memory::Settings::TIER)
      end

      def open_cache(way, options)
        remote = RemoteClient::Namespaced.new(way.within)
        Cache.new(**options.slice(*OF_A_CACHE).compact, remote: remote)
      end

      def native_of(cache)
        tiers = cache.send(:tiers) if cache.is_a?(Cache)
        native = tiers.is_a?(Memory::MemoryOverHost) ? tiers.native : tiers
        return native if native.is_a?(Native::Cache) && native.remote_stats

        raise InvalidArgument,
              "cached needs a Cache with the option remote: the server of the client"
      end

      def staleness(given)
        return 0.0 if given.is_a?(Numeric) && given.zero?

        [Memory::Duration.milliseconds("max_staleness", given) / 1000.0, LONGEST].min
      end
    end
  end
end
