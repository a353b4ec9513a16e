# frozen_string_literal: true

# A local Redis through redis-rb, with hiredis' parser: one connection, a round trip per operation.

require "session"
require "hiredis"
require "redis"

class RedisSubject
  attr_reader :name, :durability, :versions

  def initialize(place)
    @name = "redis"
    @durability = Session::NONE
    @versions = { "redis (gem)" => Redis::VERSION, "hiredis (gem)" => Hiredis::VERSION }
    @redis = Redis.new(port: place.redis_port, driver: :hiredis)
  end

  def bounded? = false
  def turns = 0

  def operations
    {
      Session::PUT => method(:put), Session::PUT_100 => method(:fill),
      Session::GET => method(:get), Session::GET_100 => method(:get_many)
    }
  end

  def put(pairs)
    pairs.each { |key, value| @redis.set(key, value) }
  end

  def get(keys)
    misses = 0
    keys.each { |key| misses += 1 if @redis.get(key).nil? }
    misses
  end

  def get_many(keys)
    keys.each_slice(100).sum { |slice| @redis.mget(slice).count(nil) }
  end

  def fill(pairs)
    pairs.each_slice(100) { |slice| @redis.mset(*slice.flatten(1)) }
  end

  def value(key) = @redis.get(key)
  def close = @redis.close
end

Session.serve(RedisSubject)
