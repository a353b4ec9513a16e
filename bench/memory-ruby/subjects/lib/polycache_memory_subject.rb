# frozen_string_literal: true

require "memory_subject"
require "polycache/memory"

# Ours, by its isolation.
class PolycacheMemorySubject < MemorySubject
  def versions = { "polycache" => Polycache::VERSION }
  def read(cache, key) = cache.get(key)
  def write(cache, key, value) = cache.set(key, value)
end
