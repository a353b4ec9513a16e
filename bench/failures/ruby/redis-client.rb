# frozen_string_literal: true

require "redis-client"
require "failing_subject"

# redis-client by itself.
class RedisClientSubject < FailingSubject
  def versions = { "redis-client" => RedisClient::VERSION }
  def loads? = false

  def connect(url, _directory)
    @client = RedisClient.config(url:).new_client
  end

  def get(key) = @client.call("GET", "rc:#{key}")
  def set(key, value) = @client.call("SET", "rc:#{key}", value)
end

RedisClientSubject.new.serve
