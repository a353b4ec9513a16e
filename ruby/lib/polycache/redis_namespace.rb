# frozen_string_literal: true

require_relative "errors"
require_relative "redis_namespace/session"
require_relative "redis_namespace/subscribing"

module Polycache
  # A middleware of redis-client, and so of redis-rb 5 and Sidekiq 7: every key, pattern and channel
  # that a client sends gets the prefix `namespace:`, and what comes back loses it. Needs no native
  # extension.
  #
  #   RedisClient.config(middlewares: [Polycache::RedisNamespace], custom: { namespace: "shop" })
  #   Redis.new(middlewares: [Polycache::RedisNamespace], custom: { namespace: -> { Tenant.name } })
  #
  # In `custom`:
  # - namespace: text, a list of nested ones, or a Proc that is asked at every command.
  # - separator: what stands behind each name. Default: ":".
  # - allow: commands that pass as they are, because they touch the whole server (`["FLUSHALL"]`) or
  #   are not known and have no keys. Default: none.
  # - commands: where further commands have their keys: `{ "JSON.GET" => [["key", 1, 1, 1]] }`
  #   (spec/commands.md says what a rule is). Default: none.
  #
  # A command that is not known raises UnknownCommand, one that touches the whole server
  # CommandNotAllowed. A Lua script gets its KEYS rewritten; one that makes up keys of its own has
  # to know the prefix itself.
  module RedisNamespace
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
      return super if @as_is

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
