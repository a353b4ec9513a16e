# frozen_string_literal: true

require "test_helper"
require "support/load_cases"
require "support/load_many_cases"

# What a load promises, in a Cache over a directory and in one without.
module LoadsTests
  include LoadCases
  include LoadManyCases

  def count_loads(cache) = cache.check[:leases]

  # What the first caller gets is what every later one gets.
  def test_the_first_call_agrees_with_later_ones
    cache = loading_cache
    plain = { "plain" => ["text", 1.5, nil, BigDecimal("1.50")] }
    [{ a: 1, "b" => [{ c: 2 }] }, 1.to_s, ["é".encode("ISO-8859-1")], plain,
     Time.new(2024, 2, 29, 12, 0, 0, "+05:30"), Time.at(1, Rational(1, 3), :nanosecond),
     Set["a".encode("UTF-16LE")]].each do |value|
      cache.delete("k")
      first = cache.fetch("k") { value }
      later = cache.fetch("k") { flunk }

      assert_equal [look(later)], [look(first)], value.inspect
    end
  end

  # A value with what its equality does not tell.
  def look(value)
    case value
    when Hash then value.map { |key, part| [look(key), look(part)] }
    when Array, Set then [value.class, value.map { |part| look(part) }]
    when String then [value, value.encoding]
    when Time then [value.to_r, value.utc?]
    else [value.class, value]
    end
  end

  # What nothing changes in is not made anew.
  def test_a_value_that_is_stored_as_it_is_stays_its_callers
    cache = loading_cache
    value = { "a" => [1, "text", "bytes".b, nil, Set[2.5]] }

    assert_same(value, cache.fetch("k") { value })
  end

  def test_those_who_wait_get_what_a_reader_gets
    cache = loading_cache
    first = leader(cache)
    others = waiting(2, cache)
    @gate.open({ at: 1.to_s })

    assert_equal [{ "at" => "1" }] * 3, outcomes([first, *others])
  end

  def test_a_loaded_value_that_is_too_large
    cache = loading_cache
    large = { a: "x" * 5_000_000 }
    values = nil
    said = warnings do
      first = leader(cache)
      others = waiting(2, cache)
      @gate.open(large)
      values = outcomes([first, *others])
    end

    assert_equal [{ "a" => large[:a] }] * 3, values
    assert_includes said, "entry_too_large"
    assert_equal 1, cache.stats[:unstored]
    refute cache.has?("k")
  end
end

class LoadsOverADirectoryTest < Minitest::Test
  include Caches
  include LoadsTests

  def loading_cache(**options) = open_cache(**options)

  # A namespace is the same one, however it came to be.
  # Leases match by a part of the key's hash. So many keys that some look alike; the first wait
  # would be an error.
  def test_a_caller_waits_for_no_lease_of_its_own_process
    cache = open_cache(limit: "2MiB", wait_timeout: "1ms")
    other = open_cache(limit: "2MiB", wait_timeout: "1ms")
    keys = Array.new(8000) { |number| "key #{number}" }
    calls = 0
    found = cache.get_or_set_many(keys) do |asked|
      calls += 1
      asked.to_h do |key|
        [cache, other].each_with_index do |inner, place|
          assert_equal 7, (inner.fetch("inner #{place} #{key}") { 7 })
        end
        [key, 1]
      end
    end

    assert_equal [keys.size, 1], [found.size, calls]
    assert_equal 0, cache.check[:leases]
  end

  def test_namespaces_of_a_handle_share_loads
    cache = open_cache
    first = thread { cache.namespace("n").fetch("k") { @gate.pass } }
    @gate.wait_for_load
    other = waiting(1, cache.namespace("n"))

    assert_equal("apart", cache.namespace("m").fetch("k") { "apart" })
    @gate.open("value")

    assert_equal ["value"] * 2, outcomes([first, *other])
  end
end

class LoadsWithATierTest < Minitest::Test
  include Caches
  include LoadsTests

  def loading_cache(**options) = open_cache(memory: true, **options)
end

class LoadsWithoutADirectoryTest < Minitest::Test
  include Caches
  include LoadsTests

  def loading_cache(**options) = Polycache::Cache.new(memory: { max_bytes: "4MiB" }, **options)
end
