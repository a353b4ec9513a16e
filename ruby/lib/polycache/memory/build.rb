# frozen_string_literal: true

require_relative "../extension"
require_relative "namespace"
require_relative "settings"
require_relative "over_host"

module Polycache
  module Memory
    # The tiers of a Cache, by its options.
    module Build
      # Options about bytes and directories, which mean nothing in memory alone.
      OF_THE_HOST = %i[
        limit mode serializer compressor dictionaries encryption empty_at_boot flush_every max_value
      ].freeze
      # Options of a server, which mean nothing without one.
      OF_A_SERVER = %i[timeout max_staleness prefix].freeze
      # Options with and without a directory, beside the namespace and the memory.
      OF_ALL = %i[
        ttl time_to_idle jitter lease_timeout wait_timeout store_errors types clock
      ].freeze
      private_constant :OF_THE_HOST, :OF_A_SERVER, :OF_ALL

      module_function

      # @param options [Hash] those that were given to Cache.new
      # @param defaults [Hash] and what the others are
      # @return [Native::Cache, MemoryOverHost, Namespace]
      # @raise what Cache.new raises
      def tiers(options, defaults)
        memory = memory_of(options)
        options = options.merge(types: Types.of(options[:types]))
        unless options.key?(:path) || options[:remote]
          raise InvalidArgument, "a cache needs a path, or memory" if options[:memory] == false

          return alone(memory || {}, options)
        end
        return native(options, defaults, memory) unless memory

        core = Core.new(Settings.new(memory, Settings::TIER))
        MemoryOverHost.new(native(options, defaults, memory), core.root, options[:types])
      end

      # The object that answers +get+ for these tiers.
      def reader(tiers) = tiers.is_a?(MemoryOverHost) ? tiers.reader : tiers

      # @return [Native::Cache] with a directory, a server, or both
      def native(options, defaults, memory)
        given = defaults.merge(options.except(:memory))
        if options.key?(:path)
          # An explicit nil is refused: a path that is missing by mistake must not become another
          # cache.
          raise InvalidArgument, "path is a String or a Pathname, not nil" if options[:path].nil?

          Extension.needed_for("a Cache with a path")
        else
          Extension.needed_for("a Cache with remote")
          given = given.merge(copies_in_memory(options, memory))
        end
        open_native(given.merge(remote: remote_of(options[:remote])), defaults)
      end

      # The extension is given what reports, and takes milliseconds and bytes.
      def open_native(given, defaults)
        Native::Cache.open(
          given.merge(
            unstored: Unstored.new(given[:store_errors]),
            observers: Observers.new,
            jitter: Lifetime.new(given[:ttl], given[:jitter]).spread,
            max_value: Size.bytes("max_value", given[:max_value] || defaults[:max_value])
          )
        )
      end

      # Of a cache on a server that has no directory: the copies are in memory, so the options of a
      # directory have no defaults, and those of the memory bound the copies.
      def copies_in_memory(options, memory)
        settings = Settings.new(memory || {}, Settings::TIER)
        bounds = { max_entries: settings.max_entries }
        bounds[:max_bytes] = settings.max_bytes if settings.max_bytes.finite?
        { flush_every: options[:flush_every], **bounds }
      end

      # @return [String, Hash, nil] a URL, or a client's settings
      def remote_of(remote)
        return remote if remote.nil? || remote.is_a?(String)

        # Only here: most programs have no client.
        require_relative "../remote_client"
        RemoteClient.settings(remote)
      end

      # Over the host tier objects are kept in memory only if asked for (spec/memory.md). A hit of a
      # small Hash then takes less than half of the time, its copy included. But keeping a value
      # costs about 4 us, which takes ten such hits to earn back: a value that is set and read in
      # turn takes three times as long, and reads of ten times as many keys as memory holds, by
      # Zipf's law, twice as long.
      #
      # @return [Hash, nil] nil for none
      def memory_of(options)
        case memory = options[:memory]
        when nil, false then nil
        when true then {}
        when Hash then memory
        else
          raise InvalidArgument, "memory is a Hash of options, true or false, not #{memory.inspect}"
        end
      end

      def alone(memory, options)
        remote = OF_A_SERVER.reject { |name| options[name].nil? }
        unless remote.empty?
          raise InvalidArgument, "#{remote.join(", ")}: without remote there is no server"
        end

        senseless = OF_THE_HOST.reject { |name| options[name].nil? }
        unless senseless.empty?
          raise InvalidArgument, "#{senseless.join(", ")}: without a path there is no directory"
        end

        # Checked separately, because not all names of MemoryCache are allowed here.
        Settings.new(memory, Settings::TIER)
        own = options.slice(*OF_ALL).compact
        settings = Settings.new(memory.merge(own), Settings::ALONE)
        core = Core.new(settings, Isolation::OF_A_CACHE, dated: true)
        parts = options[:namespace]
        parts = [parts].compact unless parts.is_a?(Array)
        parts.reduce(core.root) { |namespace, part| namespace.namespace(part) }
      end

      private_class_method :native, :open_native, :copies_in_memory, :remote_of, :memory_of, :alone
    end
  end
end
