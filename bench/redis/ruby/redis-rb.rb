# frozen_string_literal: true

require "redis"
require "redis_subject"

# redis-rb by itself.
class RedisRb < RedisSubject
  def name = "redis-rb"
  def notes = ["JSON"]
  def versions = { "redis (gem)" => Redis::VERSION }

  def open(port, _directory)
    @client = Redis.new(port: port)
  end

  def set(key, value) = @client.set("rr:#{key}", JSON.generate(value))
  def get(key) = parsed(@client.get("rr:#{key}"))
  def set_for(key, value, seconds) = @client.set("rr:#{key}", JSON.generate(value), ex: seconds)
  def ttl(key) = @client.ttl("rr:#{key}")
  def has(key) = @client.exists?("rr:#{key}")
  def delete(key) = @client.del("rr:#{key}")
  def keys(start) = @client.keys("rr:#{start}*").map { |key| key.delete_prefix("rr:") }

  def mset(items)
    @client.mapped_mset(items.to_h { |key, value| ["rr:#{key}", JSON.generate(value)] })
  end

  def mget(keys)
    texts = @client.mget(keys.map { |key| "rr:#{key}" })
    keys.zip(texts).filter_map { |key, text| [key, parsed(text)] if text }.to_h
  end

  def mdelete(keys) = @client.del(*keys.map { |key| "rr:#{key}" })
  def close = @client.close

  private

  def parsed(text) = text && JSON.parse(text)
end

Subject.serve(RedisRb)
