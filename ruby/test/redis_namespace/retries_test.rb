# frozen_string_literal: true

require_relative "helper"

# A connection is lost in the middle; what is sent again has its prefix once.
class RetriesTest < Minitest::Test
  include Namespaced

  def setup
    super
    options = { namespace: "shop", allow: ["CLIENT KILL"] }
    @shop = RedisClient.config(port: port, reconnect_attempts: 2,
                               middlewares: [Polycache::RedisNamespace], custom: options).new_client
    @shop.call("PING")
  end

  def test_a_command
    cut
    @shop.call("SET", "a", 1)

    assert_equal ["shop:a"], everything
  end

  def test_a_command_of_many_keys
    cut
    @shop.call("MSET", "a", 1, "b", 2)

    assert_equal %w[shop:a shop:b], everything
  end

  def test_a_pipeline
    cut
    @shop.pipelined { |pipeline| 3.times { |n| pipeline.call("SET", n, n) } }

    assert_equal %w[shop:0 shop:1 shop:2], everything
  end

  def test_a_transaction
    cut
    @shop.multi { |transaction| 3.times { |n| transaction.call("SET", n, n) } }

    assert_equal %w[shop:0 shop:1 shop:2], everything
  end

  def test_a_walk
    @shop.call("MSET", *(0...3000).flat_map { |n| [n, n] })
    cut

    assert_equal 3000, @shop.call("DBSIZE")
  end

  def test_a_lost_transaction_is_over
    @shop.call("MULTI")
    cut
    @shop.call("SET", "a", 1)

    assert_equal ["a"], @shop.call("KEYS", "*")
  end

  private

  # The server closes every connection but the bare one.
  def cut
    bare.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
  end
end
