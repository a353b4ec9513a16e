# frozen_string_literal: true

require "test_helper"
require_relative "support/random_value"

# Random values come back as they were, whatever the garbage collector does meanwhile.
class RandomValuesTest < Minitest::Test
  include Caches

  def round_trips(count)
    cache = open_cache(compressor: %w[none zstd:1].sample(random: Random.new(Minitest.seed)))
    values = RandomValue.new(Random.new(Minitest.seed))
    count.times do
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
    skip "this platform does not compact" unless GC.respond_to?(:auto_compact=)

    before = GC.auto_compact
    GC.auto_compact = true
    churn = Thread.new { loop { Array.new(1000) { |number| number.to_s * 3 } } }
    round_trips(500)
  ensure
    churn&.kill&.join
    GC.auto_compact = before
  end
end
