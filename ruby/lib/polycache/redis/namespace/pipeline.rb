# frozen_string_literal: true

module Polycache
  module Redis
    class Namespace
      # A pipeline or a transaction of redis-rb inside a namespace. Its commands give futures.
      class Pipeline
        include ::Redis::Commands

        def initialize(pipeline, session)
          @pipeline = pipeline
          @session = session
        end

        def pipelined = yield(self)

        def multi
          @pipeline.multi { |inner| yield Pipeline.new(inner, @session) }
        end

        private

        def synchronize = yield(self)

        def send_command(command, &block)
          words = @session.flat(command)
          return @pipeline.send(:send_command, words, &block) if words

          words, taken_off = rewritten(command, block)
          @pipeline.send(:send_command, words, &taken_off)
        end

        def send_blocking_command(command, timeout, &block)
          words, taken_off = rewritten(command, block)
          @pipeline.send(:send_blocking_command, words, timeout, &taken_off)
        end

        # The words with prefixes, and what the reply goes through.
        def rewritten(command, block)
          words = RedisNamespace::Words.of(command)
          back = @session.rewrite(words)
          [words, proc { |reply| block ? block.call(back.call(reply)) : back.call(reply) }]
        end
      end
    end
  end
end
