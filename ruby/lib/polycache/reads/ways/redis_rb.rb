# frozen_string_literal: true

require_relative "common"

module Polycache
  module Reads
    module Ways
      # A Redis of redis-rb, a pool of them, or a namespace of one of these.
      class RedisRb < Common
        def initialize(client, within)
          require_relative "recorder"
          super
          @spaces = []
          while Ways.namespace?(client)
            @spaces << client
            client = client.redis
          end
          # A Redis or a pool.
          @bare = client
        end

        def redis_rb? = true

        # @param method [Symbol] of redis-rb
        def prepare(method, args, options)
          words, block = Recorder.record(method, args, options) do |recorder|
            @spaces.reverse.reduce(recorder) do |within, space|
              Redis::Namespace::Pipeline.new(within, space.session, space)
            end
          end
          prefixed(words, block)
        end

        def dynamic? = super || @spaces.any? { |space| !space.session.fixed? }
        def scope = @spaces.empty? ? super : "#{super}#{@spaces.first.full_prefix}"

        # A thread that is in the middle of a transaction of this Redis must not wait for others,
        # which wait for it to end.
        def held?
          return false unless @bare.is_a?(::Redis)

          @bare.instance_variable_get(:@monitor)&.mon_owned?
        end

        private

        def kind = "redis-rb #{::Redis::VERSION}"
        def config = within._client.config

        def pipelined(commands)
          return sent(@bare, commands) if @bare.is_a?(::Redis)

          @bare.with { |one| sent(one, commands) }
        end

        # Without redis-rb's own forms, which it would make of errors, too.
        def sent(redis, commands)
          redis.pipelined(exception: false) do |pipeline|
            commands.each { |words| pipeline.call(*words) }
          end
        rescue ::RedisClient::Error => e
          raise_as_client(e)
        end

        def raise_as_client(error) = ::Redis::Client.translate_error!(error)
      end
    end
  end
end
