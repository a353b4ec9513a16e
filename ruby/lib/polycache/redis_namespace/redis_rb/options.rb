# frozen_string_literal: true

module Polycache
  module Redis
    class Namespace
      # The options of a Namespace.
      class Options
        NAMES = %i[redis separator allow commands warning deprecations].freeze

        attr_reader :redis

        # @param given [Hash]
        # @raise [InvalidArgument] one of them is unknown, or does not behave like a Redis
        def initialize(given)
          @given = named(given)
          @redis = @given[:redis]
          refuse_distributed if @redis.respond_to?(:node_for)
        end

        # @return [Hash] what is known of commands
        def table = @given.slice(:separator, :allow, :commands).compact

        def warning? = said(:warning) { !ENV.key?("REDIS_NAMESPACE_QUIET") }
        def deprecations? = said(:deprecations) { ENV.key?("REDIS_NAMESPACE_DEPRECATIONS") }

        private

        def named(given)
          names = given.to_h.transform_keys(&:to_sym)
          unknown = names.keys - NAMES
          return names if unknown.empty?

          raise InvalidArgument, "there is no option #{unknown.join(", ")}; there are " \
                                 "#{NAMES.join(", ")}"
        end

        def said(name) = !!(@given[name].nil? ? yield : @given[name])

        def refuse_distributed
          raise InvalidArgument,
                "Redis::Distributed chooses a server by the key, before it has its prefix. Give " \
                "its servers the namespace: Redis::Distributed.new(urls, middlewares: " \
                "[Polycache::RedisNamespace], custom: { namespace: ... })"
        end
      end
      private_constant :Options
    end
  end
end
