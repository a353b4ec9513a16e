# frozen_string_literal: true

require "redis"
require "failing_subject"

# redis-rb by itself.
class RedisRbSubject < FailingSubject
  def versions = { "redis (gem)" => Redis::VERSION }
  def loads? = false

  def connect(url, _directory)
    @client = Redis.new(url:)
  end

  def get(key) = @client.get("rb:#{key}")
  def set(key, value) = @client.set("rb:#{key}", value)
end

RedisRbSubject.new.serve
