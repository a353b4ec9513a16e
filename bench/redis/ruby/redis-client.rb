# frozen_string_literal: true

require "redis-client"
require "redis_subject"

# redis-client by itself.
class RedisClientSubject < RedisSubject
  def name = "redis-client"
  def notes = ["JSON"]
  def versions = { "redis-client (gem)" => RedisClient::VERSION }

  def open(port, _directory)
    @client = RedisClient.config(port: port).new_client
  end

  def set(key, value) = @client.call("SET", "rb:#{key}", JSON.generate(value))
  def get(key) = parsed(@client.call("GET", "rb:#{key}"))

  def set_for(key, value, seconds)
    @client.call("SET", "rb:#{key}", JSON.generate(value), "EX", seconds)
  end

  def ttl(key) = @client.call("TTL", "rb:#{key}")
  def has(key) = @client.call("EXISTS", "rb:#{key}") == 1
  def delete(key) = @client.call("DEL", "rb:#{key}")
  def keys(start) = @client.call("KEYS", "rb:#{start}*").map { |key| key.delete_prefix("rb:") }

  def mset(items)
    @client.call("MSET", items.flat_map { |key, value| ["rb:#{key}", JSON.generate(value)] })
  end

  def mget(keys)
    texts = @client.call("MGET", keys.map { |key| "rb:#{key}" })
    keys.zip(texts).filter_map { |key, text| [key, parsed(text)] if text }.to_h
  end

  def mdelete(keys) = @client.call("DEL", keys.map { |key| "rb:#{key}" })
  def close = @client.close

  private

  def parsed(text) = text && JSON.parse(text)
end

Subject.serve(RedisClientSubject)
