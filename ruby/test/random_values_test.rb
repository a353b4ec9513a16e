# frozen_string_literal: true

require "test_helper"
require_relative "support/random_value"

# Random values come back as they were, whatever the garbage collector does meanwhile.
class RandomValuesTest < Minitest::Test
  include Caches
  include Children

  def round_trips(count)
    cache = open_cache(compressor: %w[none zstd:1].sample(random: Random.new(Minitest.seed)))
    values = RandomValue.new(Random.new(Minitest.seed))
    count.times do |number|
      yield number if block_given?
      value = values.next
      cache.set("k", value)
      found = [cache.get("k"), cache.fetch("k") { flunk }]

      assert_equal([Tagged.dump(value)] * 2, found.map { |each| Tagged.dump(each) })
    end
  end

  def test_values_come_back
    round_trips(3000)
  end

  def test_values_come_back_when_every_collection_moves_objects
    while_objects_move do
      # Turned on amid an incremental marking it crashes Ruby 3.1: it moves what may not be moved.
      GC.start
      GC.auto_compact = true
      moved = GC.stat(:compact_count)
      # A collection goes on while values are written and read.
      round_trips(500) do |number|
        GC.start(immediate_mark: false, immediate_sweep: false) if (number % 25).zero?
      end

      assert_operator GC.stat(:compact_count), :>, moved
    end
  end
end
