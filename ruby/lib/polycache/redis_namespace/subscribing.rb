# frozen_string_literal: true

require "delegate"

module Polycache
  module RedisNamespace
    # Gives a client subscriptions inside its namespace; they do not pass its middlewares.
    module Subscribing
      attr_writer :redis_namespace

      def pubsub = PubSub.new(super, @redis_namespace)

      # RedisClient::PubSub, with channels of the namespace.
      class PubSub < SimpleDelegator
        def initialize(pubsub, session)
          super(pubsub)
          @session = session
        end

        def call(*command, **keywords)
          call_v(RedisClient::CommandBuilder.generate(command, keywords))
        end

        # @raise [CommandNotAllowed] it is not about subscriptions: its reply would come among the
        #   messages, and its prefix could not be removed
        def call_v(command)
          words = RedisClient::CommandBuilder.generate(command)
          @session.subscribing(words)
          __getobj__.call_v(words)
        end

        # The next event of this namespace, or nil when none came in time. An event of another
        # namespace's key is dropped, and the wait goes on for the rest of the time.
        def next_event(timeout = nil)
          deadline = now + timeout if timeout&.positive?
          loop do
            event = __getobj__.next_event(deadline ? [deadline - now, 0.001].max : timeout)
            return event if event.nil? || !event.is_a?(Array)

            told = @session.message(event)
            return told if told
            return nil if deadline && now >= deadline
          end
        end

        def close
          __getobj__.close
          self
        end

        private

        def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
