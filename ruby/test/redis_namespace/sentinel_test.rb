# frozen_string_literal: true

require_relative "helper"
require "redis"

# Clients that ask a Sentinel where the server is: they ask with the same middlewares.
class SentinelTest < Minitest::Test
  include Namespaced

  def test_a_client_of_redis_client
    config = RedisClient.sentinel(name: "main", sentinels: sentinels, **namespaced)
    shop = config.new_client
    shop.call("SET", "a", 1)

    assert_equal ["a"], shop.call("KEYS", "*")
    assert_equal ["shop:a"], everything
    shop.close
  end

  def test_a_client_of_redis_rb
    redis = Redis.new(name: "main", sentinels: sentinels, **namespaced)
    redis.set("a", 1)

    assert_equal ["a"], redis.keys
    assert_equal ["shop:a"], everything
    redis.close
  end

  def test_what_would_change_a_sentinel_is_refused
    sentinel = RedisClient.config(port: sentinels[0][:port], **namespaced).new_client

    assert_raises(Polycache::CommandNotAllowed) { sentinel.call("SENTINEL", "FAILOVER", "main") }
  end

  private

  def sentinels = [{ host: "127.0.0.1", port: Servers.sentinel(port) }]

  def namespaced
    { middlewares: [Polycache::RedisNamespace], custom: { namespace: "shop" } }
  end
end
