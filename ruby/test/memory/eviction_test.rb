# frozen_string_literal: true

require "memory/helper"

# The golden vectors of spec/eviction.md: which entries go, decision by decision.
class EvictionTest < Minitest::Test
  FILE = File.expand_path("../../../spec/vectors/eviction.json", __dir__)
  SEQUENCES = JSON.parse(File.read(FILE))

  SEQUENCES.each_with_index do |sequence, number|
    define_method("test_sequence_#{number}_of_#{sequence["capacity"]}_entries") do
      evicted = []
      listener = ->(key, _, cause) { evicted << key.to_i if cause == :evicted }
      cache = Polycache::MemoryCache.new(max_entries: sequence["capacity"],
                                         removal_listener: listener)
      sequence["steps"].each_with_index do |step, at|
        evicted.clear
        expected = step.last
        assert_equal expected, answer(cache, step, evicted), "step #{at}: #{step[0]} #{step[1]}"
      end
      Structure.check(cache)
    end
  end

  private

  def answer(cache, step, evicted)
    operation, key = step
    case operation
    when "get" then cache.get(key.to_s) == key
    when "delete" then cache.delete(key.to_s)
    when "set"
      cache.set(key.to_s, key)
      evicted
    when "resident" then cache.keys.map(&:to_i).sort
    else raise "not in the format: #{operation}"
    end
  end
end
