# frozen_string_literal: true

# Ours over a directory that processes share, with frozen values in memory.

require "memory_subject"
require "polycache"

class PolycacheMemoryHost < MemorySubject
  def name = "polycache-memory-host"
  def versions = { "polycache" => Polycache::VERSION }
  def notes = ["isolation: frozen", "no TTL", "shared by processes"]
  def read(cache, key) = cache.get(key)
  def write(cache, key, value) = cache.set(key, value)
  def close = [@cache, @full].each(&:close)

  def make(most)
    memory = { max_entries: most, isolation: "freeze" }
    Polycache::Cache.new(path: File.join(@directory, most.to_s), limit: "64MiB", memory: memory)
  end
end

Subject.serve(PolycacheMemoryHost)
