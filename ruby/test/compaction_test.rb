# frozen_string_literal: true

require "test_helper"

# Whatever the extension holds stays where it is when Ruby moves all other objects.
class CompactionTest < Minitest::Test
  include Caches
  include Children

  ROUNDS = 4
  Point = Struct.new(:x, :y)

  # The clock, the types, who hears of what was not stored; with +memory+ the index of objects.
  { "a directory" => false, "a directory and memory" => true }.each do |where, memory|
    define_method("test_what_a_cache_holds, with #{where}") do
      while_objects_move do
        cache = open_cache(memory: memory, clock: -> { 5_000 }, types: { "point" => Point })
        ROUNDS.times do |round|
          move_all(round)
          cache.set("k", Point.new(round, ["a text #{round}"]))

          2.times { assert_equal Point.new(round, ["a text #{round}"]), cache.get("k") }
          assert_equal({ "a" => [round] }, cache.fetch("k#{round}") { { "a" => [round] } })
          capture_io { cache.fetch("large") { "x" * 5_000_000 } }

          assert_equal round + 1, cache.stats[:unstored]
        end
      end
    end

    define_method("test_what_callers_wait_for, with #{where}") do
      while_objects_move do
        cache = open_cache(memory: memory)
        ROUNDS.times do |round|
          go = Thread::Queue.new
          callers = Array.new(3) { Thread.new { cache.fetch("k#{round}") { [go.pop] } } }
          Thread.pass until callers.all? { |one| one.status == "sleep" }
          move_all(round)
          go << "loaded #{round}"

          assert_equal [["loaded #{round}"]] * 3, callers.map(&:value)
        end
      end
    end
  end

  # Into pages that are empty; the first time they have to be made.
  def move_all(round)
    GC.verify_compaction_references(toward: :empty, double_heap: round.zero?)
  end
end
