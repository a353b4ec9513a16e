# frozen_string_literal: true

require "monitor"
require "redis_client"
require_relative "common"

module Polycache
  module Reads
    module Ways
      # A RedisClient, or a pool of them.
      class RedisClient < Common
        def initialize(client, within)
          super
          # A RedisClient is for one thread at a time; a pool gives each another one.
          @monitor = Monitor.new if client.equal?(within) && !pooled?
        end

        def redis_rb? = false

        # @param method [Symbol] +call+ or +call_v+
        def prepare(method, args, options)
          if method == :call_v
            args = args.first
            options = {}
          end
          words = @config.command_builder.generate(args, options)
          prefixed(words, nil)
        end

        # A thread that is in the middle of another command of this way must not wait for others.
        def held? = @monitor ? @monitor.mon_owned? : false

        private

        def kind = "redis-client"
        def pooled? = within.is_a?(::RedisClient::Pooled)

        # Older releases of pools do not show it.
        def config
          within.respond_to?(:config) ? within.config : within.instance_variable_get(:@config)
        end

        def pipelined(commands)
          return @monitor.synchronize { sent(@client, commands) } if @monitor
          return sent(@client, commands) if @client.equal?(within)

          @client.with { |one| sent(one, commands) }
        end

        def sent(client, commands)
          client.pipelined(exception: false) do |pipeline|
            commands.each { |words| pipeline.call_v(words) }
          end
        end

        def raise_as_client(error) = raise(error)
      end
    end
  end
end
