# frozen_string_literal: true

require "logger"
require "active_support"
require "active_support/cache"
require "active_support/cache/redis_cache_store"
require "failing_subject"

# Rails' cache on Redis.
class RailsSubject < FailingSubject
  def versions = { "activesupport" => ActiveSupport.version.to_s }

  def connect(url, _directory)
    @cache = ActiveSupport::Cache::RedisCacheStore.new(url:, namespace: "rails")
  end

  def get(key) = @cache.read(key)
  # It is false or nil when nothing was stored.
  def set(key, value) = @cache.write(key, value) || false
  def load(key) = @cache.fetch(key) { "loaded" }
end

RailsSubject.new.serve
