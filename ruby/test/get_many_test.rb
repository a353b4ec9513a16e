# frozen_string_literal: true

require "test_helper"

# Reads of many keys, which are done some at a time.
class GetManyTest < Minitest::Test
  include Caches

  Point = Struct.new(:x)

  def each_cache(**options)
    [{}, { memory: true }, { memory: { isolation: "freeze", policy: "lru" } }, nil].each do |tiers|
      cache = tiers ? open_cache(**tiers, **options) : Polycache::Cache.new(**options)
      cache.clear
      yield cache
    ensure
      cache&.close
    end
  end

  def test_more_keys_than_are_read_at_once
    keys = Array.new(100) { |number| "k#{number}" }
    each_cache do |cache|
      assert_empty cache.get_many([])
      assert_empty cache.get_many(keys)
      keys.each { |key| cache.set(key, [key]) unless key.end_with?("7") }
      expected = keys.reject { |key| key.end_with?("7") }.to_h { |key| [key, [key]] }
      before = cache.stats

      # From the directory, then from memory.
      3.times { assert_equal expected, cache.get_many(keys) }
      assert_equal expected.keys, cache.get_many(keys).keys
      assert_equal expected, cache.get_many(keys.each)
      assert_equal 5 * 90, cache.stats[:hits] - before[:hits]
      assert_equal 5 * 10, cache.stats[:misses] - before[:misses]
    end
  end

  # Each form of a key has a value of its own.
  def test_keys_in_several_forms
    each_cache do |cache|
      cache.set("k", ["v"])
      2.times do
        found = cache.get_many(["k", :k, "k".b, "k", "none", :none])

        assert_equal({ "k" => ["v"], :k => ["v"], "k".b => ["v"] }, found)
        refute_same found["k"], found[:k] unless found["k"].frozen?
      end
    end
  end

  def test_wrong_keys
    each_cache do |cache|
      keys = Array.new(40, &:to_s)
      assert_raises(Polycache::InvalidKey) { cache.get_many([*keys, 1]) }
      assert_raises(Polycache::InvalidKey) { cache.get_many([*keys, "\xff"]) }
      assert_raises(Polycache::InvalidArgument) { cache.get_many("k") }
      cache.close
      assert_raises(Polycache::Closed) { cache.get_many([]) }
    end
  end

  # Code of users runs while the keys are read.
  def test_a_type_that_changes_the_list_of_keys
    keys = nil
    type = Polycache::Type.new(Point, encode: :x.to_proc, decode: lambda do |x|
      keys.clear
      Point.new(x)
    end)
    each_cache(types: { "point" => type }) do |cache|
      keys = Array.new(40) { |number| "k#{number}" }
      expected = keys.each_with_index.to_h { |key, number| [key.dup, Point.new(number)] }
      cache.set_many(expected)

      assert_equal expected, cache.get_many(keys)
      assert_empty keys
    end
  end
end
