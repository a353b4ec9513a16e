# frozen_string_literal: true

# Ours with one frozen copy for all.

require "polycache_memory_subject"

class PolycacheMemoryFreeze < PolycacheMemorySubject
  def name = "polycache-memory-freeze"
  def notes = ["isolation: frozen", "no TTL"]
  def make(most) = Polycache::MemoryCache.new(max_entries: most, isolation: "freeze")
end

Subject.serve(PolycacheMemoryFreeze)
