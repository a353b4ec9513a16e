# frozen_string_literal: true

require "monitor"
require "redis_client"
require_relative "common"

module Polycache
  module Reads
    module Ways
      # A RedisClient::Cluster of the gem redis-cluster-client: spec/reads.md, "Over a Cluster".
      class Cluster
        # What the Cluster's client follows, or finds other nodes by.
        FOLLOWED = /\A(?:MOVED|ASK|TRYAGAIN|CLUSTERDOWN)\b/
        private_constant :FOLLOWED

        attr_reader :client

        # @raise [InvalidArgument] for a client whose replies cannot be cached, with the reason
        def initialize(client)
          @client = client
          # Older releases do not show it.
          @config = client.respond_to?(:config) ? client.config : variable(:@config)
          check
          settings = @config.client_config
          @shape = [kind, settings[:protocol] || 3,
                    *Array(settings[:middlewares]).map(&:name)].join(" ")
          @monitor = monitor
        end

        def within = @client
        def redis_rb? = false
        def dynamic? = false
        def scope = nil
        def held? = @monitor ? @monitor.mon_owned? : false
        def key(key) = prepare(:call, ["GET", key], {}).words[1]

        # What other clients' replies are told from.
        def shape(method) = "#{@shape} #{method}"

        # @param method [Symbol] +call+ or +call_v+
        def prepare(method, args, options)
          if method == :call_v
            args = args.first
            options = {}
          end
          Prepared.new(@config.command_builder.generate(args, options), nil)
        end

        # @raise [UncacheableRead] for keys of several slots: no one server answers for all of them
        def check_keys(name, keys)
          return if keys.map { |key| slot(key) }.uniq.size < 2

          raise UncacheableRead,
                "the keys of this #{name} are in several slots of the Cluster: give them one " \
                "hash tag, as in {user:7}:name and {user:7}:mail, or read each by itself"
        end

        # Sends a read and what is asked before and after it, in one round trip on one connection to
        # the primary of its keys. Where that sends it elsewhere, the Cluster's client reads, and
        # what is asked is not known.
        #
        # @param before [Array<Array<String>>] none if the reply will not be kept
        # @param after [Array<String>, nil] the proof, or who the database is
        # @return [(Array, Object, Object)] the replies, errors among them; that of the read is in
        #   the client's form
        # @raise the error of the read, or of the connection, as the client raises it
        def exchange(before, prepared, after)
          return synchronized { exchange_now(before, prepared, after) } if @monitor

          exchange_now(before, prepared, after)
        end

        private

        def kind = "redis-cluster-client"

        # One without a pool is for one thread at a time.
        def monitor = variable(:@pool) ? nil : Monitor.new

        def synchronized(&) = @monitor.synchronize(&)

        def exchange_now(before, prepared, after)
          found = by_primary(before, prepared, after) if before.any?
          return found if found

          reply = @client.call_v(prepared.words)
          # After the reply: another primary has this key, and may have answered before.
          answer = identity(after) if after && before.empty?
          [Array.new(before.size), prepared.reply(reply), answer]
        end

        def by_primary(before, prepared, after)
          node = primary(before[0][1])
          replies = node.pipelined(exception: false) do |pipeline|
            [*before, prepared.words, *([after] if after)].each { |words| pipeline.call_v(words) }
          end
          reply = replies[before.size]
          if reply.is_a?(::RedisClient::Error)
            return if reply.message.match?(FOLLOWED)

            raise_as_client(reply)
          end
          [replies.first(before.size), prepared.reply(reply), after && replies.last]
        rescue ::RedisClient::ConnectionError, ::RedisClient::Cluster::NodeMightBeDown
          nil
        end

        # The client of the node that the Cluster's client has for the slot.
        def primary(key) = @client.send(:router).find_primary_node_by_slot(slot(key))

        def identity(words)
          @client.call_v(words)
        rescue ::RedisClient::Error
          nil
        end

        def raise_as_client(error) = raise(error)

        def slot(key) = ::RedisClient::Cluster::KeySlotConverter.convert(key.b)
        def variable(name) = @client.instance_variable_get(name)

        def check
          if @config.use_replica?
            Ways.refuse("takes a client of a Cluster without replica: true: replicas answer with " \
                        "what is older")
          elsif @config.command_builder.class.name.start_with?("Polycache::RedisNamespace")
            Ways.refuse("takes no namespace of a client of a Cluster yet")
          end
        end
      end
    end
  end
end
