# frozen_string_literal: true

require "test_helper"

# What Ruby adds to the behaviour that spec/conformance covers.
class CacheTest < Minitest::Test
  include Caches

  def test_brackets_call_what_a_subclass_overrides
    shouting = Class.new(Polycache::Cache) do
      def get(key) = super&.upcase
      def set(key, value) = super(key, "#{value}!")
    end
    shouting.open(path: @directory, limit: 4 << 20) do |cache|
      cache["k"] = "v"

      assert_equal ["V!", "V!"], [cache["k"], cache.namespace("n").tap { |n| n["k"] = "v" }["k"]]
    end
  end

  def test_a_miss_is_nil_or_the_default
    cache = open_cache

    assert_nil cache.get("k")
    assert_equal 1, cache.get("k", 1)
    cache.set("k", nil)

    assert_nil cache.get("k", 1)
    assert cache.key?("k")
    assert cache.exist?("k")
    assert cache.has?("k")
  end

  def test_brackets_and_the_other_names
    cache = open_cache
    cache["k"] = 1

    assert_equal 1, cache["k"]
    assert_equal 2, cache.get_or_set("other") { 2 }
    assert_equal 2, cache["other"]
  end

  def test_the_default_of_peek_and_take
    cache = open_cache

    assert_nil cache.peek("k")
    assert_equal [1, 2], [cache.peek("k", 1), cache.take("k", 2)]
    cache.set("k", nil)

    assert_nil cache.peek("k", 1)
    assert_nil cache.take("k", 1)
    assert_equal 1, cache.take("k", 1)
  end

  def test_an_entry
    clock = ManualClock.new
    # With a directory and without.
    [open_cache(clock: clock, ttl: 5), Polycache::Cache.new(clock: clock, ttl: 5)].each do |cache|
      cache.set("k", [1])
      clock.advance(1500)
      entry = cache.entry(:k)

      assert_equal [[1], 3.5, 3500], [entry.value, entry.ttl, entry.expires - clock.now]
      assert_equal clock.now - 1500, entry.created
      assert_operator entry.size, :>, 0
      assert_equal cache.path ? %w[messagepack none] : [nil, nil],
                   [entry.serializer, entry.compressor]
      cache.touch("k", ttl: nil)

      assert_equal [Float::INFINITY, nil], cache.entry("k").to_h.values_at(:ttl, :expires)
      assert_equal clock.now, cache.entry("k").created
      assert_nil cache.entry("other")
      assert_equal 0, cache.stats[:hits]
    end
  end

  def test_delete_prefix_of_bytes_and_symbols
    cache = open_cache
    cache.set_many({ "é1" => 1, "\xC3".b => 2, "e" => 3, user_a: 4 })

    assert_equal 2, cache.delete_prefix("\xC3".b)
    assert_equal 1, cache.delete_prefix(:user_)
    assert_equal ["e"], cache.keys.to_a
  end

  def test_set_gives_nothing
    assert_nil open_cache.set("k", 1)
  end

  def test_symbols_and_strings_are_one_key
    cache = open_cache
    cache.set(:user, 1)

    assert_equal 1, cache.get("user")
    assert_equal ["user"], cache.keys.to_a
    assert_equal({ user: 1 }, cache.get_many([:user, "nobody"]))
  end

  def test_a_key_is_converted_to_utf8
    cache = open_cache
    cache.set("é".encode("ISO-8859-1"), 1)

    assert_equal 1, cache.get("é")
    assert_equal 1, cache.get("é".encode("UTF-16LE"))
    assert_equal 1, cache.get("é".b)
    assert_nil cache.get("é".encode("ISO-8859-1").b)
  end

  def test_a_key_without_a_utf8_form_is_refused
    cache = open_cache
    ["\xFF", "\xE9".dup.force_encoding("US-ASCII"), "\xD8".dup.force_encoding("UTF-16LE"),
     "\x81".dup.force_encoding("Windows-1252"), 1, nil, ["k"], Object.new].each do |key|
      %i[get delete has? ttl].each do |operation|
        assert_raises(Polycache::InvalidKey, key.inspect) { cache.public_send(operation, key) }
      end
      assert_raises(Polycache::InvalidKey) { cache.set(key, 1) }
      assert_raises(Polycache::InvalidKey) { cache.fetch(key) { flunk } }
      assert_raises(Polycache::InvalidKey) { cache.keys(key).to_a }
    end
  end

  def test_a_key_that_the_loader_changes_is_the_one_asked_for
    cache = open_cache
    key = +"k"
    cache.fetch(key) do
      key << ("x" * 1000)
      1
    end

    assert_equal ["k"], cache.keys.to_a
  end

  def test_open_with_a_block_closes
    kept = nil
    result = Polycache::Cache.open(path: @directory, limit: "4MiB") do |cache|
      kept = cache
      refute_predicate cache, :closed?
      :result
    end

    assert_equal :result, result
    assert_predicate kept, :closed?
    assert_raises(Polycache::Closed) { kept.get("k") }
    assert_nil kept.close
  end

  def test_keys_are_found_page_by_page
    cache = open_cache
    cache.set_many((1..1000).to_h { |number| ["k#{number}", number] })
    keys = cache.keys("k")

    assert_kind_of Enumerator, keys
    assert_equal 3, keys.first(3).uniq.size
    assert_equal (1..1000).map { |number| "k#{number}" }.sort, keys.sort
    assert_same(cache, cache.keys { |key| assert_kind_of String, key })
  end

  def test_ttl_is_seconds
    clock = ManualClock.new
    cache = open_cache(clock: clock, ttl: 60)
    cache.set("default", 1)
    cache.set("own", 1, ttl: "1500ms")
    cache.set("rails", 1, expires_in: 2)
    cache.set("forever", 1, ttl: nil)

    assert_in_delta 60.0, cache.ttl("default")
    assert_in_delta 1.5, cache.ttl("own")
    assert_in_delta 2.0, cache.ttl("rails")
    assert_equal Float::INFINITY, cache.ttl("forever")
    assert_nil cache.ttl("nobody")
    clock.advance(1500)

    assert_nil cache.get("own")
    assert_equal 1, cache.get("rails")
  end

  # Only the native handle knows the clock.
  def test_a_clock_is_not_collected
    caches = Array.new(20) do |number|
      open_cache(clock: -> { 1_700_000_000_000 + number }).namespace("nested")
    end
    GC.start
    Array.new(10_000) { -> { flunk } }

    caches.each { |cache| cache.set("k", 1, ttl: 1) }
    assert_in_delta 1.0, caches.last.ttl("k")
  end

  def test_a_clock_that_raises_says_so
    cache = open_cache(clock: -> { raise "no time" })

    assert_raises(RuntimeError) { cache.get("k") }
  end

  def test_stats_and_check
    cache = open_cache
    cache.set("k", 1)
    cache.get("k")
    cache.get("nobody")

    assert_equal [1, 1, 1, 1], cache.stats.values_at(:hits, :misses, :writes, :entries)
    assert_equal({ whole: 1, damaged: [], leases: 0 }, cache.check)
    cache.fetch("other") do
      assert_equal 1, cache.check[:leases]
    end
    assert_nil cache.flush
  end

  def test_a_nested_namespace_is_a_cache_over_the_same_handle
    cache = open_cache(namespace: "shop")
    users = cache.namespace("users")
    users.set("1", "Ada")

    assert_nil cache.get("1")
    assert_equal "Ada", open_cache(namespace: %w[shop users]).get("1")
    users.close

    assert_predicate cache, :closed?
  end

  def test_path_and_inspect
    cache = open_cache

    assert_equal File.join(@directory, "cache"), cache.path
    assert_equal "#<Polycache::Cache path=#{cache.path.inspect}>", cache.inspect
    cache.close

    assert_includes cache.inspect, "(closed)"
  end

  def test_inspect_shows_the_namespace_and_no_secret
    key = "0123456789abcdefghijklmnopqrstuv".b
    cache = open_cache(namespace: :shop, encryption: [{ id: 1, key: key }])
    cache.set("user", "a secret value")
    nested = cache.namespace("eu")

    assert_equal "#<Polycache::Cache path=#{cache.path.inspect} namespace=\"shop\">", cache.inspect
    assert_includes nested.inspect, 'namespace=["shop", "eu"]'
    assert_equal "#<Polycache::Cache in memory>", Polycache::Cache.new.inspect
    assert_output("#{cache.inspect}\n") { pp cache }
    refute_match(/secret|0123456789/, cache.inspect + nested.inspect)
  end

  def test_a_refused_value_is_named_by_its_class
    cache = open_cache
    error = assert_raises(Polycache::UnsupportedValue) { cache.set("k", { 1 => 2 }) }

    assert_includes error.message, "this one is of class Integer"
    error = assert_raises(Polycache::UnsupportedValue) { cache.set("k", [Object.new]) }

    assert_includes error.message, "the class Object is not in the type map"
  end

  def test_an_entry_too_large_says_by_how_much
    cache = open_cache
    error = assert_raises(Polycache::EntryTooLarge) { cache.set("k", "x" * 2_000_000) }

    assert_operator error.size, :>, 2_000_000
    assert_includes 500_000...1_050_000, error.limit
  end

  def test_a_cache_is_neither_copied_by_marshal_nor_made_by_hand
    assert_raises(TypeError) { Marshal.dump(open_cache) }
    assert_raises(TypeError, NoMethodError) { Polycache::Native::Cache.allocate }
  end
end
