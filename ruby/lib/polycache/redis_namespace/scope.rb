# frozen_string_literal: true

require "set"

module Polycache
  module RedisNamespace
    # Commands of a whole database, kept inside a namespace. Those that are emulated are made of
    # SCAN, so they take as long as the database is large.
    module Scope
      EMULATED = %w[DBSIZE FLUSHDB RANDOMKEY].freeze
      NARROWED = ["SCAN", "PUBSUB|CHANNELS", "PUBSUB|SHARDCHANNELS"].freeze
      # Keys that SCAN looks at in one step, and that are unlinked at once.
      BATCH = 1000
      # How often the server is asked for a random key before its keys are walked through.
      TRIES = 16

      module_function

      def emulated?(name) = EMULATED.include?(name)

      def narrowed?(name) = NARROWED.include?(name)

      # Without a pattern SCAN would walk through all namespaces, and PUBSUB CHANNELS tell of all.
      def narrow(command, words, prefix)
        case command.name
        when "SCAN" then words.push("MATCH", prefix.pattern("*")) unless match?(words)
        when "PUBSUB|CHANNELS", "PUBSUB|SHARDCHANNELS"
          words.push(prefix.pattern("*")) if words.size == 2
        end
      end

      # SCAN's options all have one argument.
      def match?(words) = (2...words.size).step(2).any? { |at| words[at].casecmp("MATCH")&.zero? }

      # @return [Integer] keys of the namespace; SCAN may give a key twice, so they are remembered
      def dbsize(prefix, send)
        keys = Set.new
        batches(prefix, send) { |some| keys.merge(some) }
        keys.size
      end

      # Removes the keys of the namespace, but not all at one moment.
      def flushdb(prefix, send)
        batches(prefix, send) { |keys| send.call(["UNLINK", *keys]) }
        "OK"
      end

      # @return [String, nil] a key, not all equally likely; nil when the namespace is empty
      def randomkey(prefix, send)
        TRIES.times do
          key = send.call(["RANDOMKEY"])
          return nil if key.nil?
          return prefix.strip(key) if prefix.of?(key)
        end
        batches(prefix, send) { |keys| return prefix.strip(keys.sample) }
        nil
      end

      def batches(prefix, send)
        cursor = "0"
        loop do
          cursor, keys = send.call(["SCAN", cursor, "MATCH", prefix.pattern("*"), "COUNT",
                                    BATCH.to_s])
          yield keys unless keys.empty?
          break if cursor == "0"
        end
      end
    end
  end
end
