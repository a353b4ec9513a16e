# frozen_string_literal: true

require "polycache"
require "redis_subject"

# What our subjects share: a cache over the benchmark's Redis.
class CacheSubject < RedisSubject
  def open(port, directory)
    remote = "redis://127.0.0.1:#{port}"
    @cache = Polycache::Cache.new(path: directory, remote: remote, serializer: "json", **options)
                             .namespace(name)
  end

  def options = {}
  def set(key, value) = @cache.set(key, value)
  def get(key) = @cache.get(key)
  def set_for(key, value, seconds) = @cache.set(key, value, ttl: seconds)
  def ttl(key) = @cache.ttl(key)
  def has(key) = @cache.key?(key)
  def delete(key) = @cache.delete(key)
  def keys(start) = @cache.keys(start).to_a
  def mset(items) = @cache.set_many(items)
  def mget(keys) = @cache.get_many(keys)
  def mdelete(keys) = @cache.delete_many(keys)
  def close = @cache.close
end
