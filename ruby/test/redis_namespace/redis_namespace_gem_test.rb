# frozen_string_literal: true

require_relative "helper"
require "redis-namespace"
require "polycache/redis_namespace/redis_rb"

# Data that the redis-namespace gem wrote is read, and the other way round.
class RedisNamespaceGemTest < Minitest::Test
  include Namespaced

  def setup
    super
    @theirs = Redis::Namespace.new(:ns, redis: Redis.new(port: port), warning: false)
    @ours = Polycache::Redis::Namespace.new(:ns, redis: Redis.new(port: port))
  end

  def test_each_reads_what_the_other_wrote
    write(@theirs, "theirs")
    write(@ours, "ours")

    assert_equal read(@theirs, "ours"), read(@ours, "ours")
    assert_equal read(@theirs, "theirs"), read(@ours, "theirs")
    assert_equal @theirs.keys("*").sort, @ours.keys("*").sort
    assert(everything.all? { |key| key.start_with?("ns:") })
  end

  def test_ours_has_every_method_of_theirs
    dynamic = %i[method_missing respond_to? respond_to_missing? self_respond_to?]
    methods = Redis::Namespace.public_instance_methods(false) - dynamic
    # The second is a command that redis-rb has no method for, so it is sent as it is written.
    missing = methods.reject { |name| Polycache::Redis::Namespace.method_defined?(name) }

    assert_equal %i[call_with_namespace zremrangebylex], missing.sort
    assert_equal 0, @ours.zremrangebylex("z", "-", "+")
  end

  private

  def write(redis, name)
    redis.set("#{name}:s", "v")
    redis.rpush("#{name}:l", %w[a b])
    redis.hset("#{name}:h", "f", "v")
    redis.sadd("#{name}:set", %w[a b])
    redis.zadd("#{name}:z", [[1, "a"], [2, "b"]])
  end

  def read(redis, name)
    [
      redis.get("#{name}:s"), redis.lrange("#{name}:l", 0, -1), redis.hgetall("#{name}:h"),
      redis.smembers("#{name}:set").sort, redis.zrange("#{name}:z", 0, -1, with_scores: true)
    ]
  end
end
