# frozen_string_literal: true

# A Hash: what no cache can undercut.

require "memory_subject"

class PlainHash < MemorySubject
  def name = "hash"
  def versions = { "ruby" => RUBY_VERSION }
  def notes = ["isolation: none", "no TTL", "no bound"]
  def make(_most) = {}
  def read(cache, key) = cache[key]

  def write(cache, key, value)
    cache[key] = value
  end
end

Subject.serve(PlainHash)
