# frozen_string_literal: true

require_relative "helper"

# Reads, clients and options that are refused, each with the reason.
class RefusalsOfReadsTest < Minitest::Test
  include ReadsOnServers

  somewhere "reads" do
    reads = cached(redis, prefixes: ["a:"])
    {
      random: -> { reads.srandmember("a:s") }, time: -> { reads.ttl("a:s") },
      groups: -> { reads.xinfo(:groups, "a:s") }, walk: -> { reads.scan(0) },
      BLOCK: -> { reads.xread("a:s", "0", block: 0) },
      "does not name": -> { reads.call("SORT_RO", "a:s", "BY", "w_*") },
      "it is not known": -> { reads.set("a:s", "1") }, SET: -> { reads.call("SET", "a:s", "1") },
      EVAL: -> { reads.eval("return 1") }
    }.each do |why, call|
      error = assert_raises(Polycache::UncacheableRead, why) { call.call }
      assert_match(/#{why}/, error.message)
    end
    assert_equal 0, redis.exists("a:s")
    assert_match(/prefixes/, assert_raises(Polycache::InvalidArgument) { reads.get("b") }.message)
    assert_raises(Polycache::InvalidArgument) { reads.get("a:b") { |reply| reply } }
    assert_raises(NoMethodError) { reads.no_command("a:b") }
    calls = cached(redis_client)
    assert_raises(Polycache::UncacheableRead) { calls.call("SET", "a:s", "1") }
    assert_raises(Polycache::UncacheableRead) { calls.call_v(%w[TTL a:s]) }
  end

  somewhere "clients" do
    {
      "class Object" => Object.new, "class String" => url,
      "namespace of the pool" => pool_of_namespaces
    }.each do |why, client|
      error = assert_raises(Polycache::InvalidArgument, why) { Polycache.cached(client) }
      assert_match(/#{why}/, error.message)
    end
  end

  somewhere "options" do
    [
      { ttl: "5m" }, { prefixes: [] }, { prefixes: "a" }, { prefixes: [1] }, { memory: true },
      { memory: { isolation: "some" } }, { max_staleness: "1ms" }, { path: 1 }, { limit: "much" }
    ].each do |wrong|
      assert_raises(Polycache::InvalidArgument, wrong) { Polycache.cached(redis, **wrong) }
    end
    space = Polycache::Redis::Namespace.new(-> { "a" }, redis: redis)
    assert_raises(Polycache::InvalidArgument) { Polycache.cached(space, prefixes: ["b"]) }
  end

  def test_it_has_the_table_of_the_specification
    own = File.expand_path("../../lib/polycache/reads/reads.json", __dir__)

    assert_equal File.read(File.expand_path("../../../spec/reads.json", __dir__)), File.read(own)
  end

  private

  def pool_of_namespaces
    ConnectionPool.new { Polycache::Redis::Namespace.new("a", redis: redis) }
  end
end
