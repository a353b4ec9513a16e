# frozen_string_literal: true

# Ours that hands out the object itself.

require "polycache_memory_subject"

class PolycacheMemoryNone < PolycacheMemorySubject
  def name = "polycache-memory-none"
  def notes = ["isolation: none", "no TTL"]
  def make(most) = Polycache::MemoryCache.new(max_entries: most, isolation: "none")
end

Subject.serve(PolycacheMemoryNone)
