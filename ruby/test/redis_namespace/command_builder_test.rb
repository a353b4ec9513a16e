# frozen_string_literal: true

require_relative "helper"
require "polycache/redis_namespace/command_builder"

# The command builder, for clients that choose a connection by the key.
class CommandBuilderTest < Minitest::Test
  include Namespaced

  Builder = Polycache::RedisNamespace::CommandBuilder

  def test_commands_are_built_with_their_prefix
    builder = Builder.new(namespace: "shop")

    assert_equal %w[MGET shop:a shop:b], builder.generate(["MGET", "a", :b])
    assert_equal %w[SET shop:a 1 EX 5], builder.generate(["SET", "a", 1], { EX: 5 })
    assert_equal %w[HSET shop:h f 1], builder.generate(["HSET", "h", { "f" => 1 }])
  end

  def test_a_client_sends_the_whole_keys
    shop = RedisClient.config(port: port,
                              command_builder: Builder.new(namespace: "shop")).new_client
    shop.call("SET", "a", 1)
    shop.pipelined { |pipeline| pipeline.call("SET", "b", 2) }

    assert_equal %w[shop:a shop:b], everything
    assert_equal %w[1 2], shop.call("MGET", "a", "b")
  end

  def test_what_is_several_commands_cannot_be_built
    builder = Builder.new(namespace: "shop")

    assert_raises(Polycache::CommandNotAllowed) { builder.generate(["FLUSHDB"]) }
    assert_raises(Polycache::UnknownCommand) { builder.generate(%w[NOSUCH k]) }
  end
end
