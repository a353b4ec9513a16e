# frozen_string_literal: true

require_relative "errors"
require_relative "redis_namespace/session"
require_relative "redis_namespace/subscribing"

module Polycache
  # A middleware of redis-client, and so of redis-rb 5 and Sidekiq 7. It puts the prefix
  # `namespace:` before every key, pattern and channel that a client sends, and takes it off what
  # comes back. It needs no native extension.
  #
  #   RedisClient.config(middlewares: [Polycache::RedisNamespace], custom: { namespace: "shop" })
  #   Redis.new(middlewares: [Polycache::RedisNamespace], custom: { namespace: -> { Tenant.name } })
  #
  # In `custom`:
  # - namespace: text, a list of nested ones, or a Proc that is called at every command.
  # - separator: the text behind each name. Default: ":".
  # - allow: commands that pass unchanged, because they touch the whole server (`["FLUSHALL"]`) or
  #   are unknown and have no keys. Default: none.
  # - commands: where further commands have their keys: `{ "JSON.GET" => [["key", 1, 1, 1]] }`
  #   (spec/commands.md says what a rule is). Default: none.
  #
  # An unknown command raises UnknownCommand, one that touches the whole server CommandNotAllowed. A
  # Lua script gets its KEYS rewritten; one that makes up keys has to know the prefix itself.
  module RedisNamespace
    # The name of a command whose keys have their prefixes already: it begins a pipeline that the
    # middleware is to leave alone.
    #
    # @api private
    class Prefixed < String
    end

    def initialize(client)
      super
      @as_is = false
      @redis_namespace = Session.new(client.config.custom) do |words|
        as_is do
          client.call_v(words)
        end
      end
      client.extend(Subscribing)
      client.redis_namespace = @redis_namespace
    end

    def connect(config)
      @redis_namespace.reset
      super
    end

    def call(command, config)
      return super if @as_is

      original = @redis_namespace.put_on_keys(command)
      return @redis_namespace.call(command) { super } unless original

      begin
        super
      ensure # A retry finds the words as they were.
        original.is_a?(String) ? command[1] = original : command.replace(original)
      end
    end

    def call_pipelined(commands, config)
      return super if @as_is || commands[0]&.first.is_a?(Prefixed)

      @redis_namespace.call_pipelined(commands) { super }
    end

    private

    # Commands that have their prefixes already.
    def as_is
      @as_is = true
      yield
    ensure
      @as_is = false
    end
  end
end
