# frozen_string_literal: true

require "test_helper"

# Every allocation collects: what the extension does not keep in sight is gone at once.
class GCStressTest < Minitest::Test
  include Caches

  def stressed
    GC.stress = true
    yield
  ensure
    GC.stress = false
  end

  def test_every_row_of_the_type_map
    row = Vectors.rows("values.json").find { |each| each["name"] == "every row in a map" }
    value = Tagged.load(row["value"])
    cache = open_cache
    found, loaded = stressed do
      cache.set("k", value)
      [cache.get("k"), cache.fetch("k") { flunk }]
    end

    assert_equal [Tagged.dump(value)] * 2, [Tagged.dump(found), Tagged.dump(loaded)]
  end

  def test_loads_pages_and_errors
    cache = open_cache
    stressed do
      assert_equal ["a"], cache.fetch("k") { ["a"] }
      assert_raises(Polycache::UnsupportedValue) { cache.set("k", { a: ["b", :c] }) }
      assert_raises(Polycache::InvalidKey) { cache.get(1) }
      assert_equal ["k"], cache.keys.to_a
      assert_equal 1, cache.stats[:entries]
    end
  end

  def test_many_loads_and_what_an_entry_says
    cache = open_cache
    stressed do
      found = cache.get_or_set_many(%w[a b c]) { { "a" => ["x"], "b" => { "y" => +"z" } } }

      assert_equal({ "a" => ["x"], "b" => { "y" => "z" } }, found)
      assert_raises(IOError) { cache.get_or_set_many(%w[c d]) { raise IOError } }
      assert_equal ["x"], cache.peek("a")
      entry = cache.entry("b")

      assert_equal [{ "y" => "z" }, "messagepack"], [entry.value, entry.serializer]
      assert cache.touch("b", ttl: 5)
      assert_equal({ "y" => "z" }, cache.take("b"))
      assert_equal 1, cache.delete_prefix("a")
    end
    assert_equal 0, cache.check[:leases]
  end

  def test_atomic_operations
    [open_cache, open_cache(memory: true)].each do |cache|
      cache.clear
      stressed do
        assert cache.add("k", ["a"])
        assert_equal(%w[a b], cache.update("k") { |list| list + ["b"] })
        assert cache.compare_and_set("k", cache.entry("k").version, { "x" => +"y" })
        assert_equal 2**62, cache.increment("n", (2**62) - 1, initial: 1, expires_at: Time.now + 60)
        found = cache.get_many(%w[k n none])

        assert_equal({ "k" => { "x" => "y" }, "n" => 2**62 }, found)
        assert_nil(cache.update("k") { Polycache::Cache::DELETE })
      end
    end
  end
end
