# frozen_string_literal: true

# Rails' store in memory: copies by Marshal, a Monitor around everything.

require "memory_subject"
require "logger"
require "active_support"
require "active_support/cache"
require "active_support/cache/memory_store"

class ActiveSupportMemoryStore < MemorySubject
  def name = "activesupport-memory-store"
  def versions = { "activesupport" => ActiveSupport::VERSION::STRING }
  # It bounds bytes, not entries.
  def notes = ["isolation: clone", "no TTL", "bounded by 64 MiB only"]
  def make(_most) = ActiveSupport::Cache::MemoryStore.new(size: 64 << 20)
  def read(cache, key) = cache.read(key)
  def write(cache, key, value) = cache.write(key, value)
end

Subject.serve(ActiveSupportMemoryStore)
