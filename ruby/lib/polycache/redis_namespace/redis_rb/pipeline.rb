# frozen_string_literal: true

module Polycache
  module Redis
    class Namespace
      # A pipeline or a transaction of redis-rb inside a namespace. Its commands give futures.
      class Pipeline
        include ::Redis::Commands

        # @param pipeline [Redis::PipelinedConnection] or a transaction
        # @param session [RedisNamespace::Session]
        # @param outer [Namespace] what it was made by
        # @param transaction [Boolean] whether its replies are those of one transaction
        def initialize(pipeline, session, outer, transaction: false)
          @pipeline = pipeline
          @session = session
          @outer = outer
          @transaction = transaction
          @by_hand = nil
        end

        def pipelined = yield(self)

        def multi
          @pipeline.multi do |inner|
            yield Pipeline.new(inner, @session, @outer, transaction: true)
          end
        end

        # The namespace, or with a block: yields one that lies beside it, in the same pipeline.
        def namespace(desired = nil)
          if desired
            other = @outer.beside(desired)
            yield Pipeline.new(@pipeline, other.session, other, transaction: @transaction)
          end
          @outer.namespace
        end

        def full_namespace = @outer.full_namespace

        # Its replies were raised, so it is unknown which commands are queued now.
        #
        # @api private
        def unseen = @by_hand && @session.unseen(@by_hand)

        private

        def synchronize = yield(self)

        def send_command(command, &block)
          words = @session.flat(command) unless @by_hand
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
          back = @transaction ? @session.rewrite(words) : batched(words)
          [words, proc { |reply| block ? block.call(back.call(reply)) : back.call(reply) }]
        end

        # A transaction that is begun by hand may end in another pipeline, or by itself.
        def batched(words)
          known = @session.batched(words)
          @by_hand ||= [] if known[0].transaction || @session.queueing?
          @by_hand&.push(known)
          ->(reply) { @session.received(*known, reply) }
        end
      end
    end
  end
end
