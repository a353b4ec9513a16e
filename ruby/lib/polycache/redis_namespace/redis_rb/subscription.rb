# frozen_string_literal: true

require_relative "../replies"

module Polycache
  module Redis
    class Namespace
      # The block of a subscriber: its callbacks get names without prefixes, and none of another
      # namespace.
      class Subscription
        def initialize(subscription, prefix)
          @subscription = subscription
          @prefix = prefix
        end

        %i[
          subscribe unsubscribe message psubscribe punsubscribe pmessage
          ssubscribe sunsubscribe smessage
        ].each do |kind|
          define_method(kind) do |&block|
            @subscription.public_send(kind) do |*event|
              told = RedisNamespace::Replies.message([kind.to_s, *event], @prefix)
              block.call(*told.drop(1)) if told
            end
          end
        end
      end
    end
  end
end
