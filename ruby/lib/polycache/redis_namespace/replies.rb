# frozen_string_literal: true

module Polycache
  module RedisNamespace
    # Takes the prefix off what comes back (spec/commands.md, "Replies"). Null, an error and
    # anything of another shape stay as they are.
    module Replies
      module_function

      def key(reply, prefix) = prefix.strip(reply)

      def keys(reply, prefix)
        reply.is_a?(Array) ? prefix.strip_all(reply) : reply
      end

      def first(reply, prefix)
        reply.is_a?(Array) && !reply.empty? ? [prefix.strip(reply[0]), *reply.drop(1)] : reply
      end

      def scan(reply, prefix)
        reply.is_a?(Array) ? [reply[0], keys(reply[1], prefix)] : reply
      end

      def streams(reply, prefix)
        case reply
        when Hash then reply.transform_keys { |name| prefix.strip(name) }
        when Array then reply.map { |pair| first(pair, prefix) }
        else reply
        end
      end

      def channels(reply, prefix)
        return reply unless reply.is_a?(Array)

        reply.select { |name| prefix.of?(name) }.map { |name| prefix.strip(name) }
      end

      def counts(reply, prefix)
        case reply
        when Hash then reply.transform_keys { |name| prefix.strip_channel(name) }
        when Array
          reply.each_with_index.map { |one, at| at.even? ? prefix.strip_channel(one) : one }
        else reply
        end
      end

      def prefixes(reply, prefix)
        case reply
        when Hash
          reply.to_h { |name, value| [name, name == "prefixes" ? keys(value, prefix) : value] }
        when Array
          at = reply.index("prefixes")
          reply.each_with_index.map { |one, index| at && index == at + 1 ? keys(one, prefix) : one }
        else reply
        end
      end

      # Confirmations of subscriptions that come back as a command's reply.
      def messages(reply, prefix) = message(reply, prefix)

      # What a server pushes to a subscriber, or nil when it tells of another namespace's key.
      def message(event, prefix)
        return event unless event.is_a?(Array)

        case event[0]
        when "message", "smessage" then published(event, prefix)
        when "pmessage" then matched(event, prefix)
        when "psubscribe", "punsubscribe" then named(event, prefix, :strip_channel_pattern)
        when "subscribe", "unsubscribe", "ssubscribe", "sunsubscribe" then named(event, prefix,
                                                                                 :strip_channel)
        when "invalidate" then invalidation(event, prefix)
        else event
        end
      end

      def named(event, prefix, strip)
        kind, name, count = event
        [kind, name && prefix.public_send(strip, name), count]
      end

      def published(event, prefix)
        kind, channel, payload = event
        return invalidation(event, prefix) if channel == Prefix::INVALIDATE

        told = payload(channel, payload, prefix)
        told && [kind, prefix.strip_channel(channel), told]
      end

      def matched(event, prefix)
        kind, pattern, channel, payload = event
        told = payload(channel, payload, prefix)
        told && [kind, prefix.strip_channel_pattern(pattern), prefix.strip_channel(channel), told]
      end

      # The payload of an event's channel is the key.
      def payload(channel, payload, prefix)
        return payload unless channel.start_with?(Prefix::KEYEVENT)

        prefix.strip(payload) if prefix.of?(payload)
      end

      # Its last part is a list of keys; none means all of them.
      def invalidation(event, prefix)
        *named, keys = event
        return event if keys.nil?

        ours = channels(keys, prefix)
        [*named, ours] unless ours.empty?
      end
    end
  end
end
