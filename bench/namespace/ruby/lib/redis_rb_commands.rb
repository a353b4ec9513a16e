# frozen_string_literal: true

require "dataset"

# The page's operations as redis-rb is called, and redis-namespace, which has its methods: each is a
# callable that makes one round trip.
class RedisRbCommands
  def initialize(redis, data)
    @redis = redis
    @data = data
  end

  def operations
    redis = @redis
    data = @data
    {
      "SET" => -> { redis.set(data.key, Dataset::STRING) },
      "GET" => -> { redis.get(data.key) },
      "MGET (10 keys)" => -> { redis.mget(*data.many) },
      "LPUSH" => -> { redis.lpush(data.pushed, Dataset::PAIR) },
      "LRANGE" => -> { redis.lrange(data.list, 0, -1) },
      "HSET" => -> { redis.hset(data.hash, *Dataset::FIELDS) },
      "HGETALL" => -> { redis.hgetall(data.hash) },
      "SADD" => -> { redis.sadd(data.set, Dataset::MEMBERS) },
      "SMEMBERS" => -> { redis.smembers(data.set) },
      "KEYS" => -> { redis.keys(data.pattern) },
      "ZRANGE" => -> { redis.zrange(data.sorted, 0, -1) },
      "MULTI/EXEC" => lambda {
        redis.multi do |transaction|
          transaction.set(data.first, Dataset::STRING)
          transaction.set(data.second, Dataset::STRING)
        end
      }
    }
  end

  # Writes what the reads find.
  def prepare
    @redis.del(*@data.keys)
    @redis.rpush(@data.list, Dataset::ITEMS)
    @redis.hset(@data.hash, *Dataset::FIELDS)
    @redis.sadd(@data.set, Dataset::MEMBERS)
    @redis.zadd(@data.sorted, Dataset::SCORES)
    @data.many.zip(Dataset::TEN) { |key, value| @redis.set(key, value) }
    @data.users.zip(Dataset::TEN) { |key, value| @redis.set(key, value) }
  end

  # What LPUSH piled up goes before each round.
  def trim = @redis.del(@data.pushed)

  def close = @redis.close
end
