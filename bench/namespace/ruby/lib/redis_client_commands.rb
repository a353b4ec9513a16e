# frozen_string_literal: true

require "dataset"

# The page's operations as redis-client is called: each is a callable that makes one round trip.
class RedisClientCommands
  def initialize(client, data)
    @client = client
    @data = data
  end

  def operations
    client = @client
    data = @data
    {
      "SET" => -> { client.call("SET", data.key, Dataset::STRING) },
      "GET" => -> { client.call("GET", data.key) },
      "MGET (10 keys)" => -> { client.call("MGET", *data.many) },
      "LPUSH" => -> { client.call("LPUSH", data.pushed, *Dataset::PAIR) },
      "LRANGE" => -> { client.call("LRANGE", data.list, 0, -1) },
      "HSET" => -> { client.call("HSET", data.hash, *Dataset::FIELDS) },
      "HGETALL" => -> { client.call("HGETALL", data.hash) },
      "SADD" => -> { client.call("SADD", data.set, *Dataset::MEMBERS) },
      "SMEMBERS" => -> { client.call("SMEMBERS", data.set) },
      "KEYS" => -> { client.call("KEYS", data.pattern) },
      "ZRANGE" => -> { client.call("ZRANGE", data.sorted, 0, -1) },
      "MULTI/EXEC" => lambda {
        client.multi do |transaction|
          transaction.call("SET", data.first, Dataset::STRING)
          transaction.call("SET", data.second, Dataset::STRING)
        end
      }
    }
  end

  # Writes what the reads find.
  def prepare
    @client.call("DEL", *@data.keys)
    @client.call("RPUSH", @data.list, *Dataset::ITEMS)
    @client.call("HSET", @data.hash, *Dataset::FIELDS)
    @client.call("SADD", @data.set, *Dataset::MEMBERS)
    @client.call("ZADD", @data.sorted, *Dataset::SCORES.flatten)
    @data.many.zip(Dataset::TEN) { |key, value| @client.call("SET", key, value) }
    @data.users.zip(Dataset::TEN) { |key, value| @client.call("SET", key, value) }
  end

  # What LPUSH piled up goes before each round.
  def trim = @client.call("DEL", @data.pushed)

  def close = @client.close
end
