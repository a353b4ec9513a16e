# frozen_string_literal: true

require_relative "cluster_helper"

# Cached reads over a Redis::Cluster of redis-clustering. A primary that is killed is in
# cluster_test.rb.
class RedisClusterOfReadsTest < Minitest::Test
  include ReadsOnACluster

  CALLS = {
    get: ["{k}t"], mget: ["{k}t", "{k}none"], mapped_mget: ["{k}t", "{k}none"],
    exists?: ["{k}t"], xrange: ["{k}x", "-", "+"], hgetall: ["{k}h"], smembers: ["{k}s"],
    call: %w[XRANGE {k}x - +], zrange: ["{k}z", 0, -1], xread: [["{k}x"], ["0"]]
  }.freeze

  def test_a_hit_is_the_clients_reply
    redis = redis_cluster
    fill(redis)
    reads = cached_on_host(redis)
    other = cached_on_host(redis)
    [*CALLS.to_a, [:zrange, ["{k}z", 0, -1], { with_scores: true }],
     [:xrange, ["{k}x", "-", "+"], { count: 1 }]].each do |method, args, options|
      options ||= {}
      expected = redis.public_send(method, *args, **options)
      keeping(reads) { reads.public_send(method, *args, **options) }

      assert_equal expected, reads.public_send(method, *args, **options), method
      sent = other.stats[:sent]

      assert_equal expected, other.public_send(method, *args, **options), method
      assert_equal sent, other.stats[:sent], method
    end
    assert_equal redis.call("XRANGE", "{k}x", "-", "+"),
                 JSON.parse(reads.json.call("XRANGE", "{k}x", "-", "+").text)
  end

  def test_what_others_write_at_any_primary_is_shown
    keys = Array.new(9) { |number| "r:#{number}" }

    assert_equal 3, keys.map { |key| owner(key) }.uniq.size
    reads = cached_on_host(redis_cluster, max_staleness: "10s")
    %w[first second].each do |value|
      keys.each do |key|
        write(key, value)
        until_true("#{key} is shown") { reads.get(key) == value }
        keeping(reads) { reads.get(key) }
      end
    end
  end

  def test_a_redirected_reply_is_not_kept
    write("redirected", "there")
    redis = redis_cluster
    way = Polycache.const_get(:Reads, false)::Ways.of(redis)
    exchange = lambda do
      way.exchange([%w[PTTL redirected]], way.prepare(:get, ["redirected"], {}),
                   %w[GETEX redirected])
    end

    assert_equal [[-1], "there", "there"], exchange.call
    nodes = redis._client.send(:router).instance_variable_get(:@node)
    slot = RedisClient::Cluster::KeySlotConverter.convert("redirected")
    primaries = (0...16_384).map { |one| nodes.find_node_key_of_primary(one) }.uniq
    # As if the client's map of slots were old.
    nodes.update_slot(slot, (primaries - [nodes.find_node_key_of_primary(slot)]).first)

    assert_equal [[nil], "there", nil], exchange.call
  end

  def test_errors_are_the_clients
    redis = redis_cluster
    fill(redis)
    [cached(redis), cached_on_host(redis)].each do |reads|
      keeping(reads) { reads.get("{k}t") }
      3.times { assert_raises(Redis::WrongTypeError) { reads.hgetall("{k}t") } }
    end
    several = assert_raises(Polycache::UncacheableRead) { cached(redis).mget("a", "b") }
    assert_match(/several slots/, several.message)
  end

  # A read and what is asked with it is one turn on a connection that the client's own commands use.
  def test_threads_take_turns
    redis = redis_cluster
    keys = Array.new(8) { |number| "{turns}#{number}" }
    keys.each { |key| redis.set(key, key) }
    way = Polycache.const_get(:Reads, false)::Ways.of(redis)
    threads = keys.map.with_index do |key, number|
      Thread.new do
        Array.new(50) do
          next redis.get(key) if number.odd?

          prepared = way.prepare(:get, [key], {})
          asked, reply, = way.exchange([["PTTL", key]], prepared, ["GETEX", key])
          asked == [-1] ? reply : asked
        end.uniq
      end
    end

    assert_equal keys.zip, threads.map(&:value)
  end

  # A slot that moves, with the client's own commands from other threads meanwhile.
  def test_a_slot_that_moves
    write("moving", "1")
    redis = redis_cluster
    reads = cached_on_host(redis, max_staleness: "10s")
    keeping(reads) { reads.get("moving") }
    move = moving("moving")
    ends = false
    others = Array.new(2) { Thread.new { redis.get("moving") until ends } }
    reads.get("moving")
    move.call
    write("moving", "2")
    until_true("it is shown") { reads.get("moving") == "2" }
    keeping(reads) { reads.get("moving") }
  ensure
    ends = true
    others&.each(&:join)
  end

  def test_clients_that_are_refused
    redis = redis_cluster
    { "replica" => redis_cluster(replica: true), "no pool" => ConnectionPool.new { redis },
      "no namespace" => Polycache::Redis::Namespace.new("a", redis: redis) }.each do |why, client|
      error = assert_raises(Polycache::InvalidArgument, why) { cached(client) }
      assert_match(/#{why}/, error.message)
    end
  end

  private

  def fill(redis)
    redis.del("{k}t", "{k}x", "{k}h", "{k}z", "{k}s")
    redis.set("{k}t", "text")
    2.times { |number| redis.xadd("{k}x", { name: "ü#{number}" }) }
    redis.hset("{k}h", { "a" => 1, "ü" => "ö" })
    redis.zadd("{k}z", [[1, "a"], [2.5, "b"]])
    redis.sadd("{k}s", ["m"])
  end
end
