# frozen_string_literal: true

require_relative "reader"

module Polycache
  # Answers calls by JSON.
  # @api private
  class AsJson
    def initialize(reader)
      @reader = reader
    end

    def read(...) = @reader.json(...)
    def stats = @reader.stats
    def forget(keys) = @reader.forget(keys)
    def close = @reader.close
  end
  private_constant :AsJson

  # What Polycache.cached gives, whatever the client is. Replies are frozen to their depth, because
  # all callers share them, unless the option +memory+ says otherwise. Any number of threads and
  # fibers may use it, and forked children.
  class CachedCommands
    # @api private
    def initialize(client, reader)
      @client = client
      @reader = reader
    end

    # @return [Hash{Symbol => Object}] what these reads did since they were made: +:memory_hits+
    #   (replies from this process' memory), +:host_hits+ (replies that this host had), +:sent+
    #   (reads that the client sent), +:joined+ (callers that shared a read with another one) and
    #   +:uncached+, reads that were sent and whose replies were not kept, by the reason: +:deaf+
    #   (nobody of this host hears of writes just now, or the server does not answer the cache),
    #   +:not_heard+ (the listener does not hear of writes of these keys yet), +:busy+ (another
    #   process of this host reads the same, or there is no room) and +:refused+ (the connection
    #   leads to another server than the listener's, the reply may expire unnoticed, a write came
    #   meanwhile, or the read names more than 1,024 keys)
    def stats = @reader.stats

    # Has reads of these keys read anew on this host: for what the program itself has just written.
    #
    # @param keys [Array<String, Symbol>]
    # @return [nil]
    def forget(*keys)
      @reader.forget(keys.flatten)
      nil
    end

    # Ends them, and the cache that was opened for them.
    #
    # @return [nil]
    def close
      @reader.close
      nil
    end

    # The same methods; each gives the JSON of the reply as an HTTP::Representation, encoded once
    # for each change: lists and Hashes as the client has them, text, numbers, true, false, null.
    #
    #   reads.json.xrange("OPTIONS", "-", "+").rack(env)
    #
    # @return [CachedReads, CachedCalls]
    def json = @json ||= self.class.new(@client, AsJson.new(@reader))

    # Not its variables: a client may show a password.
    #
    # @return [String]
    def inspect = "#<#{self.class} of a #{@client.class}>"

    private

    def answer(method, args, options, block)
      refuse_block if block
      @reader.read(method, args, options)
    end

    def refuse_block
      raise InvalidArgument, "cached reads take no blocks: call it with what they return"
    end
  end

  # The methods of a RedisClient that read: its own +call+ and +call_v+.
  #
  #   reads.call("XRANGE", "OPTIONS", "-", "+")
  class CachedCalls < CachedCommands
    # Answers a command that reads, as the client would.
    #
    # @param command [Array] the words, as the client takes them
    # @return [Object] the client's reply
    # @raise [UncacheableRead] the reply cannot be cached; nothing is sent
    # @raise [InvalidArgument] its keys begin with none of the option +prefixes+
    # @raise what the client raises
    def call(*command, **options, &block) = answer(:call, command, options, block)

    # As +call+, of a list of words.
    #
    # @param command [Array]
    # @return [Object]
    def call_v(command, &block) = answer(:call_v, [command], {}, block)

    private

    def answer(method, args, options, block)
      words = args.flatten(2)
      name = words[0].to_s.upcase
      raise Reads::Plan.refusal(name, words[1]) unless Reads::Plan.read?(name)

      super
    end
  end

  # The methods of redis-rb that read, +mapped_mget+, +exists?+ and <tt>call("XRANGE", ...)</tt>
  # among them. Any other one raises UncacheableRead, with the reason.
  #
  #   reads.xrange("OPTIONS", "-", "+", count: 10)
  class CachedReads < CachedCommands
    # Takes over the methods of redis-rb that read.
    #
    # @api private
    def self.new(...)
      take_methods unless @taken
      super
    end

    # What a method of redis-rb sends: mapped_mget and mget send MGET.
    #
    # @api private
    def self.command_of(method) = method.name.delete_prefix("mapped_").delete_suffix("?").upcase

    def self.take_methods
      reads = ::Redis::Commands.public_instance_methods.select do |method|
        Reads::Plan.read?(command_of(method))
      end
      reads.each do |method|
        class_eval <<~RUBY, __FILE__, __LINE__ + 1
          def #{method}(*args, **options, &block) # def get(*args, **options, &block)
            refuse_block if block                 #   refuse_block if block
            @reader.read(:#{method}, args, options) # @reader.read(:get, args, options)
          end                                     # end
        RUBY
      end
      @taken = true
    end
    private_class_method :take_methods

    # Answers a command that reads, as the client would.
    #
    # @param command [Array] its words
    # @return [Object] the reply, as redis-rb's own +call+ gives it
    # @raise [UncacheableRead] the reply cannot be cached; nothing is sent
    def call(*command, &block)
      words = command.flatten(1)
      name = words[0].to_s.upcase
      raise Reads::Plan.refusal(name, words[1]) unless Reads::Plan.read?(name)

      answer(:call, command, {}, block)
    end

    # Any other method of redis-rb. Reads do not respond to it: it only says why.
    #
    # @raise [UncacheableRead] with the reason
    def method_missing(method, *args, **) # rubocop:disable Style/MissingRespondToMissing
      return super unless ::Redis::Commands.public_method_defined?(method)

      raise Reads::Plan.refusal(CachedReads.command_of(method), args.first)
    end
  end
end
