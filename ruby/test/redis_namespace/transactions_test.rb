# frozen_string_literal: true

require_relative "helper"
require "polycache/redis_namespace/redis_rb"

# Transactions that end otherwise than by an EXEC that succeeds: every reply after them is as
# before. Each test runs with the middleware and with the wrapper of redis-rb.
module Transactions
  include Namespaced

  def setup
    super
    bare.call("SET", "shop:s", "v")
    bare.call("RPUSH", "shop:l", "x", "y", "z")
    bare.call("SET", "other:s", "v")
  end

  def test_an_aborted_exec
    call("MULTI")
    failing { call("SET", "a") }
    failing { call("EXEC") }

    assert_as_before
  end

  def test_a_discard
    call("MULTI")
    call("KEYS", "*")
    call("DISCARD")

    assert_as_before
  end

  def test_a_discard_that_is_refused
    call("MULTI")
    failing { call("DISCARD", "a") }
    failing { call("EXEC") }

    assert_as_before
  end

  def test_a_watched_key_that_changed
    call("WATCH", "s")
    bare.call("SET", "shop:s", "w")
    call("MULTI")
    call("KEYS", "*")

    assert_nil call("EXEC")
    assert_as_before
  end

  def test_multi_within_multi_changes_nothing
    call("MULTI")
    call("KEYS", "*")
    failing { call("MULTI") }
    failing { call("WATCH", "s") }

    assert_equal [%w[l s]], call("EXEC").map(&:sort)
    assert_as_before
  end

  def test_a_lost_connection
    id = call("CLIENT", "ID")
    call("MULTI")
    call("SET", "a", 1)
    bare.call("CLIENT", "KILL", "ID", id)
    failing { call("EXEC") }

    assert_as_before
  end

  def test_an_error_within_exec
    call("MULTI")
    call("INCR", "l")
    call("KEYS", "*")
    replies = call("EXEC")

    assert_equal %w[l s], replies[1].sort
    assert_as_before
  end

  def test_a_pipeline_that_raises_and_opens_a_transaction
    failing do
      pipelined do |pipeline|
        pipeline.call("INCR", "l")
        pipeline.call("MULTI")
        pipeline.call("KEYS", "*")
      end
    end
    assert_raises(Polycache::CommandNotAllowed) { call("RANDOMKEY") }
    assert_equal [%w[l s]], call("EXEC").map(&:sort)
    assert_as_before
  end

  def test_a_pipeline_that_opens_a_transaction
    pipelined do |pipeline|
      pipeline.call("MULTI")
      pipeline.call("KEYS", "*")
    end
    pipelined { |pipeline| pipeline.call("GET", "s") }

    assert_equal [%w[l s], "v"], (call("EXEC").map { |one| one.is_a?(Array) ? one.sort : one })
    assert_as_before
  end

  def test_a_pipeline_with_a_whole_transaction
    replies = pipelined do |pipeline|
      pipeline.call("KEYS", "*")
      pipeline.call("MULTI")
      pipeline.call("KEYS", "s*")
      pipeline.call("GET", "s")
      pipeline.call("EXEC")
    end

    assert_equal [%w[l s], "OK", "QUEUED", "QUEUED", [["s"], "v"]], [replies[0].sort,
                                                                     *replies.drop(1)]
    assert_as_before
  end

  def test_a_pipeline_whose_transaction_is_aborted
    failing do
      pipelined do |pipeline|
        pipeline.call("MULTI")
        pipeline.call("SET", "a")
        pipeline.call("EXEC")
      end
    end

    assert_as_before
  end

  def test_a_pipeline_of_which_nothing_was_sent_changes_nothing
    assert_raises(Polycache::UnknownCommand) do
      pipelined do |pipeline|
        pipeline.call("MULTI")
        pipeline.call("NOSUCH")
      end
    end

    assert_as_before
  end

  private

  # Every kind of reply that has names, and what cannot be part of a transaction.
  def assert_as_before
    assert_equal %w[l s], call("KEYS", "*").sort
    assert_equal ["l", bare.call("LINDEX", "shop:l", 0)], call("BLPOP", "l", 1)
    assert_equal %w[l s], call("SCAN", 0)[1].sort
    assert_equal 2, call("DBSIZE")
    assert_includes %w[l s], call("RANDOMKEY")
    call("MULTI")
    call("KEYS", "*")

    assert_equal [%w[l s]], call("EXEC").map(&:sort)
  end

  def failing(&) = assert_raises(RedisClient::Error, Redis::BaseError, &)
end

# The middleware, which also knows of a new connection.
class MiddlewareTransactionsTest < Minitest::Test
  include Transactions

  def setup
    super
    @client = client
  end

  def teardown
    @client&.close
    super
  end

  def test_reset
    call("MULTI")
    call("KEYS", "*")
    call("RESET")

    assert_as_before
  end

  def test_a_pipeline_that_gives_errors_among_its_replies
    replies = @client.pipelined(exception: false) do |pipeline|
      pipeline.call("MULTI")
      pipeline.call("KEYS", "*")
      pipeline.call("MULTI")
      pipeline.call("EXEC")
      pipeline.call("KEYS", "s")
    end

    assert_equal [%w[l s]], replies[3].map(&:sort)
    assert_equal ["s"], replies[4]
    assert_as_before
  end

  private

  def call(...) = @client.call(...)
  def pipelined(&) = @client.pipelined(&)
end

# Polycache::Redis::Namespace.
class WrapperTransactionsTest < Minitest::Test
  include Transactions

  def setup
    super
    @redis = Redis.new(port: port)
    @shop = Polycache::Redis::Namespace.new("shop", redis: @redis)
  end

  def teardown
    @redis&.close
    super
  end

  def test_a_transaction_in_which_another_namespace_sends
    other = Polycache::Redis::Namespace.new("other", redis: @redis)
    call("MULTI")

    assert_equal %w[QUEUED QUEUED], [other.call("KEYS", "*"), call("KEYS", "s*")]
    assert_raises(Polycache::CommandNotAllowed) { other.dbsize }
    assert_equal [["s"], ["s"]], other.call("EXEC")
    assert_as_before
  end

  private

  def call(...) = @shop.call(...)
  def pipelined(&) = @shop.pipelined(&)
end
