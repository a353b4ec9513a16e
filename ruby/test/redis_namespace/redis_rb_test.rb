# frozen_string_literal: true

require_relative "helper"
require "connection_pool"
require "polycache/redis_namespace/redis_rb"

# Polycache::Redis::Namespace, the wrapper of redis-rb with redis-namespace's methods.
class RedisRbTest < Minitest::Test
  include Namespaced

  def setup
    super
    @redis = Redis.new(port: port)
    @ns = Polycache::Redis::Namespace.new(:ns, redis: @redis)
  end

  def teardown
    @redis&.close
    super
  end

  def test_helpers_of_redis_rb_work_inside
    @ns.mapped_mset("a" => 1, "b" => 2)

    assert_equal({ "a" => "1", "b" => "2", "c" => nil }, @ns.mapped_mget("a", "b", "c"))
    assert_equal %w[a b], @ns.keys.sort
    assert_equal %w[a], @ns.keys("a*")
    assert_equal %w[a b], @ns.scan_each.to_a.sort
    assert @ns.exists?("a")
    assert_equal "string", @ns.type("a")
    assert_equal %w[ns:a ns:b], everything
  end

  def test_replies_that_name_keys
    @ns.rpush("l", %w[a b c])
    @ns.xadd("s", { f: "v" }, id: "1-1")

    assert_equal %w[l a], @ns.blpop("none", "l", timeout: 1)
    assert_equal ["l", %w[b]], @ns.lmpop("l")
    assert_equal({ "s" => [["1-1", { "f" => "v" }]] }, @ns.xread("s", "0"))
    assert_equal(["0", %w[l s]], @ns.scan(0).then { |cursor, keys| [cursor, keys.sort] })
  end

  def test_sort_by_and_get
    @ns.rpush("l", %w[1 2])
    @ns.mset("w_1", 2, "w_2", 1, "o_1", "one", "o_2", "two")

    assert_equal [%w[2 two], %w[1 one]], @ns.sort("l", by: "w_*", get: ["#", "o_*"])
    assert_equal %w[1 2], @ns.sort("l", by: "nosort")
  end

  def test_a_pipeline_gives_futures
    future = nil
    replies = @ns.pipelined do |pipeline|
      pipeline.set("a", 1)
      future = pipeline.keys
      pipeline.exists?("a")
    end

    assert_equal ["OK", ["a"], true], replies
    assert_equal ["a"], future.value
  end

  def test_a_transaction
    replies = @ns.multi do |transaction|
      transaction.set("a", 1)
      transaction.keys("*")
      transaction.hset("h", "f", 1)
      transaction.hgetall("h")
    end

    assert_equal ["OK", ["a"], 1, { "f" => "1" }], replies
  end

  def test_a_transaction_in_a_pipeline
    replies = @ns.pipelined do |pipeline|
      pipeline.multi do |transaction|
        transaction.keys
        transaction.set("a", 1)
      end
      pipeline.keys
    end

    assert_equal [[[], "OK"], ["a"]], [replies[-2], replies[-1]]
  end

  def test_a_watched_key
    @ns.set("a", 1)
    replies = @ns.watch("a") do |watching|
      @redis.set("ns:a", 2)
      watching.multi { |transaction| transaction.incr("a") }
    end

    assert_nil replies
  end

  def test_namespaces_nest
    inner = Polycache::Redis::Namespace.new("in", redis: @ns)
    inner.set("k", 1)

    assert_equal "ns:in", inner.full_namespace
    assert_equal ["ns:in:k"], everything
    assert_equal [["k"], ["in:k"]], [inner.keys, @ns.keys]
    assert_equal [["k"]], inner.multi(&:keys)
    assert_equal 1, inner.dbsize
    inner.clear

    assert_empty everything
  end

  def test_the_block_form_yields_a_namespace_beside_it
    @ns.namespace("other") { |other| other.set("k", 1) }

    assert_equal ["other:k"], everything
    assert_equal :ns, @ns.namespace
  end

  def test_the_namespace_can_be_asked_for_and_changed
    tenant = "a"
    dynamic = Polycache::Redis::Namespace.new(-> { tenant }, redis: @redis)
    dynamic.set("k", 1)
    tenant = "b"
    dynamic.set("k", 1)
    @ns.namespace = "c"
    @ns.set("k", 1)

    assert_equal %w[a:k b:k c:k], everything
  end

  def test_clear_leaves_what_others_have
    bare.call("MSET", "nsx:k", 1, "n:k", 1)
    @ns.mset("a", 1, "b", 2)
    @ns.clear

    assert_equal %w[n:k nsx:k], everything
  end

  def test_a_pool
    pool = ConnectionPool.new(size: 3) { Redis.new(port: port) }
    ns = Polycache::Redis::Namespace.new("ns", redis: pool)
    threads = Array.new(6) { |n| Thread.new { 100.times { |k| ns.set("#{n}-#{k}", k) } } }
    threads.each(&:join)

    assert_equal 600, ns.dbsize
    assert_equal [1], (ns.watch("n") { |one| one.multi { |transaction| transaction.incr("n") } })
    assert_equal "x", (ns.with { |one| one.set("x", 1) && one.keys("x").first })
    pool.shutdown(&:close)
  end

  def test_subscriptions
    heard = []
    listener = Thread.new do
      Polycache::Redis::Namespace.new("ns", redis: Redis.new(port: port)).then do |ns|
        ns.subscribe("c") do |on|
          on.subscribe { |channel, count| heard << [channel, count] }
          on.message { |channel, message| heard.push([channel, message]) && ns.unsubscribe }
          on.unsubscribe { |channel, count| heard << [channel, count] }
        end
      end
    end
    Thread.pass until heard.size == 1
    @ns.publish("c", "m")
    listener.join

    assert_equal [["c", 1], %w[c m], ["c", 0]], heard
  end

  def test_subscriptions_to_a_pattern
    heard = []
    listener = Thread.new do
      Polycache::Redis::Namespace.new("a*b", redis: Redis.new(port: port)).then do |ns|
        ns.psubscribe("n.*") do |on|
          on.psubscribe { |pattern, _| heard << pattern }
          on.pmessage { |*said| heard.push(said) && ns.punsubscribe }
        end
      end
    end
    Thread.pass until heard.size == 1
    bare.call("PUBLISH", "axxb:n.1", "m")
    bare.call("PUBLISH", "a*b:n.1", "m")
    listener.join

    assert_equal ["n.*", ["n.*", "n.1", "m"]], heard
  end

  def test_what_redis_namespace_lets_through_is_refused
    assert_raises(Polycache::CommandNotAllowed) { @ns.flushall }
    assert_raises(Polycache::CommandNotAllowed) { @ns.config(:get, "maxmemory") }
    assert_raises(Polycache::CommandNotAllowed) { @ns.monitor { |_| flunk } }
    assert_raises(Polycache::CommandNotAllowed) { @ns.shutdown }
    assert_raises(Polycache::UnknownCommand) { @ns.call("NOSUCH", "k") }
    assert_raises(Polycache::UnknownCommand) { @ns.nosuch("k") }
    allowing = Polycache::Redis::Namespace.new("ns", redis: @redis, allow: ["CONFIG GET"])

    assert_kind_of Hash, allowing.config(:get, "maxmemory")
  end

  def test_scripts_get_their_keys
    assert_equal "OK", @ns.eval("return redis.call('SET', KEYS[1], ARGV[1])", ["a"], [1])
    sha = @ns.script(:load, "return redis.call('GET', KEYS[1])")

    assert_equal "1", @ns.evalsha(sha, keys: ["a"])
  end

  def test_one_thread_does_not_disturb_another
    threads = Array.new(4) do |n|
      Thread.new do
        Array.new(100) do
          @ns.multi do |transaction|
            [transaction.set(n, n), transaction.keys(n)]
          end
        end.uniq
      end
    end

    assert_equal((0..3).map { |n| [["OK", [n.to_s]]] }, threads.map(&:value))

    assert_equal %w[ns:0 ns:1 ns:2 ns:3], everything
  end
end

Servers.others { |program| RedisRbTest.on(program) }
