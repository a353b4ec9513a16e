# frozen_string_literal: true

require_relative "helper"
require "open3"

# Every kind of client that one connection can be held of.
class ClientsOfReadsTest < Minitest::Test
  include ReadsOnServers

  def assert_heard(reads, key, method = nil)
    read = -> { method ? reads.call("GET", method) : reads.get(key.split(":").last) }
    plain("SET", key, "1")
    until_true("it is read") { read.call == "1" }
    keeping(reads) { read.call }
    plain("SET", key, "2")
    until_true("a write is heard of") { read.call == "2" }
    keeping(reads) { read.call }
  end

  somewhere "namespaces" do
    bare = redis
    space = Polycache::Redis::Namespace.new("ns", redis: bare)
    inner = Polycache::Redis::Namespace.new("in", redis: space)
    pool = kept_pool { Redis.new(port: @port) }
    pooled = Polycache::Redis::Namespace.new("np", redis: pool)
    custom = { middlewares: [Polycache::RedisNamespace], custom: { namespace: "nm" } }
    assert_heard(cached(space, max_staleness: "10s"), "ns:a")
    assert_heard(cached(inner, max_staleness: "10s", prefixes: ["a"]), "ns:in:a")
    assert_heard(cached(pooled, max_staleness: "10s"), "np:a")
    assert_heard(cached(redis(**custom), max_staleness: "10s", prefixes: ["a"]), "nm:a")
    assert_heard(cached(redis_client(**custom), max_staleness: "10s"), "nm:b", "b")
    within = Polycache::Redis::Namespace.new("in", redis: redis(**custom))
    assert_heard(cached(within, max_staleness: "10s"), "nm:in:a")
  end

  somewhere "a program that has not loaded namespaces" do
    plain("SET", "a", "1")
    program = <<~RUBY
      require "redis"
      require "polycache/reads"
      reads = Polycache.cached(Redis.new(port: #{@port}), prefix: "#{@prefix}")
      print reads.get("a"), defined?(Polycache::Redis::Namespace).inspect
    RUBY
    folders = $LOAD_PATH.flat_map { |path| ["-I", path] }
    said, status = Open3.capture2e(RbConfig.ruby, *folders, "-e", program)

    assert_predicate status, :success?, said
    assert_equal "1nil", said
  end

  somewhere "a namespace of the moment shows nobody another's reply" do
    tenant = "one"
    plain("SET", "one:a", "1")
    plain("SET", "two:a", "2")
    custom = { middlewares: [Polycache::RedisNamespace], custom: { namespace: -> { tenant } } }
    space = Polycache::Redis::Namespace.new(-> { tenant }, redis: redis)
    [space, redis(**custom)].each do |client|
      reads = cached(client)
      tenant = "one"
      keeping(reads) { reads.get("a") }
      3.times do
        tenant = "two"

        assert_equal "2", reads.get("a")
        tenant = "one"

        assert_equal "1", reads.get("a")
      end
    end
  end

  somewhere "replies with keys in them have no prefixes" do
    space = Polycache::Redis::Namespace.new("nr", redis: redis)
    space.del("x")
    space.xadd("x", { a: 1 })
    reads = cached_on_host(space)
    other = cached_on_host(space)
    keeping(reads) { reads.get("a") }
    3.times do
      assert_equal space.xread("x", "0"), reads.xread("x", "0")
      assert_equal ["x"], other.xread("x", "0").keys
    end
    assert_equal space.mapped_mget("a", "b"), reads.mapped_mget("a", "b")
  end

  somewhere "pools" do
    assert_heard(cached(kept_pool { Redis.new(port: @port) }, max_staleness: "10s"), "pool")
    pool = kept_pool { RedisClient.new(port: @port) }
    assert_heard(cached(pool, max_staleness: "10s"), "pool", "pool")
    pooled = kept(RedisClient.config(port: @port).new_pool(size: 2))
    assert_heard(cached(pooled, max_staleness: "10s"), "pool", "pool")
  end

  somewhere "a primary that a Sentinel names" do
    sentinels = [{ host: "127.0.0.1", port: Servers.sentinel(@port) }]
    client = kept(Redis.new(name: "main", sentinels: sentinels))
    until_true("the Sentinel knows it") do
      client.ping
    rescue Redis::BaseConnectionError
      false
    end
    assert_heard(cached(client, max_staleness: "10s"), "watched")
    calls = kept(RedisClient.sentinel(name: "main", sentinels: sentinels).new_client)
    assert_heard(cached(calls, max_staleness: "10s"), "watched", "watched")
  end

  private

  def kept_pool(&)
    pool = ConnectionPool.new(size: 2, &)
    closed = pool.dup
    closed.define_singleton_method(:close) { pool.shutdown(&:close) }
    @clients << closed
    pool
  end
end
