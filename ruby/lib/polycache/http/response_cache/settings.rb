# frozen_string_literal: true

require_relative "../../memory/duration"
require_relative "../../memory/size"
require_relative "../policy"
require_relative "storable"

module Polycache
  module HTTP
    class ResponseCache
      # The options as they are used.
      # @api private
      class Settings
        OPTIONS = %i[
          key vary covered extensions ttl stale_while_revalidate stale_if_error max_body
          cache_status on_error clock codings compress_from
        ].freeze
        private_constant :OPTIONS

        # +vary+ is sorted, each once; +keyed+ are those that are in the key, or covered.
        attr_reader :key, :vary, :keyed, :extensions, :defaults, :max_body, :policy

        def initialize(options)
          unknown = options.keys - OPTIONS
          if unknown.any?
            raise InvalidArgument, "unknown option #{unknown.join(", ")}: there are " \
                                   "#{OPTIONS.join(", ")}"
          end
          @options = options.compact
          @key = function(:key)
          @vary = names(:vary).uniq.sort.freeze
          @keyed = (@vary | names(:covered)).freeze
          @extensions = texts(:extensions)
          @defaults = Lifetime.new(milliseconds(:ttl), milliseconds(:stale_while_revalidate) || 0,
                                   milliseconds(:stale_if_error) || 0)
          @max_body = Memory::Size.bytes("max_body", @options.fetch(:max_body, "1MiB"))
          @clock = function(:clock)
          @on_error = function(:on_error)
          @policy = Policy.new(codings: texts(:codings, Codings::ALL),
                               compress_from: @options.fetch(:compress_from, 1024))
        end

        def cache_status? = @options.fetch(:cache_status, true) ? true : false

        # Milliseconds since 1970.
        def now
          @clock ? @clock.call.to_i : Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)
        end

        def tell(error)
          return @on_error.call(error) if @on_error

          warn "polycache: a response cache goes on without what failed: " \
               "#{error.full_message(highlight: false)}"
        end

        private

        def function(name)
          value = @options[name]
          return value if value.nil? || value.respond_to?(:call)

          raise InvalidArgument, "#{name} answers to call, and #{value.inspect} does not"
        end

        def texts(name, default = [])
          texts = @options.fetch(name, default)
          return texts if texts.is_a?(Array) && texts.all?(String)

          raise InvalidArgument, "#{name} is an Array of names, and not #{texts.inspect}"
        end

        def names(name) = texts(name).map { |one| Policy.checked_name(one) }

        # At most what seconds in a field can say.
        def milliseconds(name)
          value = @options[name]
          value && [Memory::Duration.milliseconds(name.name, value), (2**31) * 1000].min
        end
      end
      private_constant :Settings
    end
  end
end
