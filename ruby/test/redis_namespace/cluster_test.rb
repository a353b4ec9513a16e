# frozen_string_literal: true

require_relative "helper"
begin
  require "redis_cluster_client"
rescue LoadError # The tests are skipped.
  nil
end
require "polycache/redis_namespace/cluster"

# redis-cluster-client on a cluster of three primaries.
class ClusterTest < Minitest::Test
  NAMES = Array.new(50) { |number| "k#{number}" }.sort.freeze
  # redis-cluster-client loads what it knows of the slots meanwhile.
  PATIENCE = 30

  def setup
    skip "no redis-server or redis-cluster-client here" if
      Servers::PROGRAMS.first != "redis-server" || !RedisClient.respond_to?(:cluster)
    @bare = cluster
    up
    @bare.call("FLUSHALL")
    @bare.call("SET", "neighbour", 1)
    @shop = cluster(**Polycache::RedisNamespace.cluster(namespace: "shop"))
    NAMES.each { |name| @shop.call("SET", name, name) }
  end

  def teardown
    @shop&.close
    @bare&.close
  end

  def test_keys_go_to_the_node_of_their_whole_name
    assert_equal(NAMES, NAMES.map { |name| @bare.call("GET", "shop:#{name}") })
    assert_equal(NAMES, NAMES.map { |name| @shop.call("GET", name) })
    assert_equal %w[k1 k2 k3], @shop.call("MGET", "k1", "k2", "k3")
    assert_equal "OK", @shop.call("MSET", "m1", 1, "m2", 2, "m3", 3)
    assert_equal %w[1 2 3], @bare.call("MGET", "shop:m1", "shop:m2", "shop:m3")
    assert_equal 3, @shop.call("DEL", "m1", "m2", "m3")
  end

  def test_replies_lose_the_prefix
    @shop.call("RPUSH", "{x}l", "a", "b")

    assert_equal %w[{x}l a], @shop.call("BLPOP", "{x}l", 1)
    assert_equal ["{x}l", ["b"]], @shop.call("LMPOP", 1, "{x}l", "LEFT")
    assert_equal NAMES, @shop.call("KEYS", "*").sort
    found = []
    @shop.scan { |key| found << key }

    assert_equal NAMES, found.sort
    assert_equal NAMES, scanned.sort
  end

  def test_pipelines_and_transactions
    replies = @shop.pipelined do |pipeline|
      pipeline.call("GET", "k1")
      pipeline.call("RPUSH", "l", "a")
      pipeline.call("LMPOP", 1, "l", "LEFT")
    end
    changes = @shop.multi do |transaction|
      transaction.call("RPUSH", "{x}l", "a")
      transaction.call("LMPOP", 1, "{x}l", "LEFT")
    end

    assert_equal ["k1", 1, ["l", ["a"]]], replies
    assert_equal [1, ["{x}l", ["a"]]], changes
  end

  def test_messages
    pubsub = @shop.pubsub
    pubsub.call("SUBSCRIBE", "c")

    assert_equal ["subscribe", "c", 1], pubsub.next_event(5)
    @bare.call("PUBLISH", "c", "not this")
    @shop.call("PUBLISH", "c", "m")

    assert_equal %w[message c m], pubsub.next_event(5)
  ensure
    pubsub&.close
  end

  def test_what_would_be_everybodys_is_refused
    %w[FLUSHDB DBSIZE RANDOMKEY FLUSHALL].each do |name|
      assert_raises(Polycache::CommandNotAllowed, name) { @shop.call(name) }
    end
    assert_equal "1", @bare.call("GET", "neighbour")
  end

  private

  def cluster(**options)
    nodes = Servers.cluster.map { |port| "redis://127.0.0.1:#{port}" }
    RedisClient.cluster(nodes: nodes, **options).new_client
  end

  def scanned
    found = []
    cursor = "0"
    loop do
      cursor, keys = @shop.call("SCAN", cursor)
      found.concat(keys)
      return found if cursor == "0"
    end
  end

  def up
    deadline = Servers.now + PATIENCE
    begin
      NAMES.each { |name| @bare.call("SET", name, 1) }
    rescue RedisClient::Error
      raise if Servers.now > deadline

      @bare.close
      @bare = cluster
      retry
    end
  end
end
