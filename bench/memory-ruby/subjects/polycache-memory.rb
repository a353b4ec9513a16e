# frozen_string_literal: true

# Ours as it is by default: a copy is stored, and a copy is handed out.

require "polycache_memory_subject"

class PolycacheMemory < PolycacheMemorySubject
  def name = "polycache-memory"
  def notes = ["isolation: clone", "no TTL"]
  def make(most) = Polycache::MemoryCache.new(max_entries: most)
end

Subject.serve(PolycacheMemory)
