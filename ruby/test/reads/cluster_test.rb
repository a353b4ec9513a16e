# frozen_string_literal: true

require_relative "cluster_helper"

# Cached reads over a client of redis-cluster-client.
class ClusterOfReadsTest < Minitest::Test
  include ReadsOnACluster

  CALLS = [
    %w[GET {k}t], %w[GET {k}none], %w[MGET {k}t {k}none], %w[EXISTS {k}t {k}none],
    %w[XRANGE {k}x - +], %w[HGETALL {k}h], %w[ZRANGE {k}z 0 -1 WITHSCORES], %w[SMEMBERS {k}s],
    ["EVAL_RO", "return redis.call('get', KEYS[1])", 1, "{k}t"]
  ].freeze

  def test_a_hit_is_the_clients_reply
    [cluster, cluster(protocol: 2), cluster_pool].each_with_index do |client, at|
      fill(client)
      reads = cached_on_host(client, at.to_s)
      other = cached_on_host(client, at.to_s)
      CALLS.each do |words|
        expected = client.call(*words)
        keeping(reads) { reads.call(*words) }

        assert_equal [expected] * 2, [reads.call(*words), reads.call_v(words)], words
        sent = other.stats[:sent]

        assert_equal [expected], [other.call(*words)], words
        assert_equal sent, other.stats[:sent], words
      end
    end
  end

  def test_what_others_write_at_any_primary_is_shown
    keys = Array.new(9) { |number| "c:#{number}" }

    assert_equal 3, keys.map { |key| owner(key) }.uniq.size
    reads = cached_on_host(cluster, max_staleness: "10s")
    %w[first second].each do |value|
      keys.each do |key|
        write(key, value)
        until_true("#{key} is shown") { reads.call("GET", key) == value }
        keeping(reads) { reads.call("GET", key) }
      end
    end
    ask(owner(keys[0]), "FLUSHALL")
    until_true("nothing is left") { reads.call("GET", keys[0]).nil? }
  end

  def test_a_redirected_reply_is_not_kept
    write("moved", "there")
    client = cluster
    way = Polycache.const_get(:Reads, false)::Ways.of(client)
    exchange = lambda do
      way.exchange([%w[PTTL moved]], way.prepare(:call, %w[GET moved], {}), %w[GETEX moved])
    end

    assert_equal [[-1], "there", "there"], exchange.call
    nodes = client.send(:router).instance_variable_get(:@node)
    slot = RedisClient::Cluster::KeySlotConverter.convert("moved")
    primaries = (0...16_384).map { |one| nodes.find_node_key_of_primary(one) }.uniq
    # As if the client's map of slots were old.
    nodes.update_slot(slot, (primaries - [nodes.find_node_key_of_primary(slot)]).first)

    assert_equal [[nil], "there", nil], exchange.call
  end

  def test_keys_of_several_slots
    reads = cached(cluster)
    %w[MGET EXISTS SUNION].each do |name|
      error = assert_raises(Polycache::UncacheableRead) { reads.call(name, "a", "b") }
      assert_match(/several slots/, error.message)
    end
  end

  def test_a_slot_that_moves
    write("moves", "1")
    reads = cached_on_host(cluster, max_staleness: "10s")
    keeping(reads) { reads.call("GET", "moves") }
    %w[2 3].each do |value|
      move = moving("moves")
      reads.call("GET", "moves")
      move.call
      write("moves", value)
      until_true("it is shown") { reads.call("GET", "moves") == value }
      keeping(reads) { reads.call("GET", "moves") }
    end
  end

  def test_clients_that_are_refused
    replicas = assert_raises(Polycache::InvalidArgument) { cached(cluster(replica: true)) }
    assert_match(/replica/, replicas.message)
    options = Polycache::RedisNamespace.cluster(namespace: "a")
    within = assert_raises(Polycache::InvalidArgument) { cached(cluster(**options)) }
    assert_match(/namespace/, within.message)
  end

  def test_a_primary_that_is_killed
    write("killed", "1")
    both = [cluster, redis_cluster].each_with_index.map do |client, at|
      cached_on_host(client, at.to_s, max_staleness: "10s")
    end
    both.each { |reads| keeping(reads) { reads.call("GET", "killed") } }
    gone = owner("killed")
    Process.kill("KILL", Integer(ask(gone, "INFO", "server")[/process_id:(\d+)/, 1]))
    write("killed", "2")
    both.each do |reads|
      wait_for("it is shown") { tried { reads.call("GET", "killed") } == "2" }
      keeping(reads) { tried { reads.call("GET", "killed") } }
    end
  end

  private

  def fill(client)
    %w[t x h z s].each { |name| client.call("DEL", "{k}#{name}") }
    client.call("SET", "{k}t", "text")
    client.call("XADD", "{k}x", "*", "name", "one")
    client.call("HSET", "{k}h", "a", 1, "ü", "ö")
    client.call("ZADD", "{k}z", 1, "a", 2.5, "b")
    client.call("SADD", "{k}s", "m")
  end
end
