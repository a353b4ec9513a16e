# frozen_string_literal: true

# lru_redux, its class for threads: a Hash in the order of use, the object itself, no expiry.

require "memory_subject"
require "lru_redux"

class LruReduxThreadSafe < MemorySubject
  def name = "lru-redux"
  def versions = { "lru_redux" => LruRedux::VERSION }
  def notes = ["isolation: none", "no TTL"]
  def make(most) = LruRedux::ThreadSafeCache.new(most)
  def read(cache, key) = cache[key]

  def write(cache, key, value)
    cache[key] = value
  end
end

Subject.serve(LruReduxThreadSafe)
