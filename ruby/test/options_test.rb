# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "pathname"

# What an option may be in Ruby.
class OptionsTest < Minitest::Test
  include Caches

  def test_names_may_be_symbols
    cache = open_cache(namespace: :shop, serializer: :json, compressor: :zstd, flush_every: :never)
    cache.set("k", [1])

    assert_equal [1], cache.get("k")
  end

  def test_a_path_may_be_a_pathname
    cache = Polycache::Cache.new(path: Pathname(@directory).join("here"), limit: 4 << 20)
    @opened << cache

    assert_equal File.join(@directory, "here"), cache.path
  end

  def test_wrong_options_are_refused_and_leave_nothing_behind
    path = File.join(@directory, "never")
    [
      { limits: 1 }, { limit: -1 }, { limit: 1.5 }, { limit: "64M" }, { limit: "\xFF" },
      { ttl: 0 }, { ttl: "5" }, { ttl: :soon }, { lease_timeout: "1ms" },
      { wait_timeout: "25h" }, { wait_timeout: 0 }, { store_errors: "ignore" }, { store_errors: 1 },
      { lease_timeout: [] },
      { serializer: "marshal" }, { serializer: 1 }, { compressor: "zstd:23" },
      { namespace: "" }, { namespace: 1 }, { namespace: ["a", nil] }, { namespace: "\xFF" },
      { empty_at_boot: "yes" }, { empty_at_boot: 1 },
      { flush_every: "99ms" }, { flush_every: "25h" }, { flush_every: true }, { flush_every: 0 },
      { flush_every: :often },
      { max_value: 0 }, { max_value: "64M" }, { max_value: 1.5 }, { jitter: 0.1 },
      { ttl: 5, jitter: 1 }, { ttl: 5, jitter: 1.0 }, { ttl: 5, jitter: 1r },
      { ttl: 5, jitter: 5 }, { ttl: 5, jitter: -0.1 }, { ttl: 5, jitter: "x" }
    ].each do |options|
      assert_raises(Polycache::InvalidArgument, options.inspect) do
        Polycache::Cache.new(path: path, **options)
      end
    end
    [nil, 1, "", "a\0b", []].each do |wrong|
      assert_raises(Polycache::InvalidArgument, wrong.inspect) { Polycache::Cache.new(path: wrong) }
    end
    assert_raises(Polycache::InvalidArgument) { Polycache::Cache.new(memory: false) }
    [5, "64MiB", { max_entries: 0 }, { max_bytes: 0 }, { ttl: 5 }, { weigher: proc {
                                                                              } }].each do |memory|
      [{ path: path }, {}].each do |place|
        assert_raises(Polycache::InvalidArgument, memory.inspect) do
          Polycache::Cache.new(memory: memory, **place)
        end
      end
    end
    [{ limit: "4MiB" }, { serializer: "json" }, { empty_at_boot: true },
     { max_value: "1MiB" }].each do |option|
      assert_raises(Polycache::InvalidArgument, option.inspect) { Polycache::Cache.new(**option) }
    end
    refute_path_exists path
  end

  def test_an_unknown_option_of_an_operation_is_refused
    cache = open_cache

    assert_raises(Polycache::InvalidArgument) { cache.set("k", 1, tll: 5) }
    assert_raises(Polycache::InvalidArgument) { cache.set_many({}, tags: []) }
    assert_raises(Polycache::InvalidArgument) { cache.set_many({}, ttl: -1) }
    [nil, "ab", %w[a b]].each do |wrong|
      assert_raises(Polycache::InvalidArgument, wrong.inspect) { cache.set_many(wrong) }
    end
    assert_raises(Polycache::InvalidArgument) { cache.touch("k", tll: 5) }
    assert_raises(Polycache::InvalidArgument) { cache.get_or_set_many(["k"], tll: 5) { flunk } }
    error = assert_raises(Polycache::InvalidArgument) { cache.fetch("k", race: 1) { flunk } }

    assert_includes error.message, "race"
    assert_includes error.message, "ttl"
    refute cache.has?("k")
  end

  # Neither wins silently.
  def test_ttl_beside_expires_in_is_refused
    [open_cache, Polycache::Cache.new, Polycache::MemoryCache.new].each do |cache|
      pairs = [%w[5m 5m], [nil, 5], [5, nil], [:default, 5]]
      pairs.map { |ttl, expires_in| { ttl: ttl, expires_in: expires_in } }.each do |both|
        assert_raises(Polycache::InvalidArgument) { cache.set("k", 1, **both) }
        assert_raises(Polycache::InvalidArgument) { cache.set_many({ "k" => 1 }, **both) }
        assert_raises(Polycache::InvalidArgument) { cache.fetch("k", **both) { flunk } }
        assert_raises(Polycache::InvalidArgument) { cache.touch("k", **both) }
        assert_raises(Polycache::InvalidArgument) { cache.get_or_set_many(%w[k], **both) { flunk } }
      end
      cache.set("k", 1, ttl: nil)
      cache.set("k", 1, expires_in: nil)

      assert_equal Float::INFINITY, cache.ttl("k")
    end
    [Polycache::Cache, Polycache::MemoryCache].each do |kind|
      assert_raises(Polycache::InvalidArgument) { kind.new(ttl: 5, expires_in: 5) }
      assert_raises(Polycache::InvalidArgument) { kind.new(ttl: nil, expires_in: 5) }
    end
  end

  def test_each_way_of_memory_refuses_both_names_of_ttl
    cache = Polycache::MemoryCache.new
    both = { ttl: 5, expires_in: 5 }
    ways = [-> { cache.increment("n", **both) }, -> { cache.decrement("n", **both) }]
    ways.each do |way|
      assert_raises(Polycache::InvalidArgument, &way)
    end
    refute cache.has?("n")
  end

  def test_get_or_set_without_a_block_is_refused
    assert_raises(Polycache::InvalidArgument) { open_cache.get_or_set("k") }
  end

  def test_max_value
    path = File.join(@directory, "cache")
    cache = open_cache(max_value: 100, compressor: "zstd")
    cache.set("k", "x" * 50)
    assert_raises(Polycache::ValueTooLarge) { cache.set("k", "x" * 101) }

    refute cache.has?("k")
    open_cache(path: path).set("k", "x" * 101)
    error = assert_raises(Polycache::ValueTooLarge) { cache.get("k") }

    assert_equal 100, error.limit
  end

  def test_a_jitter_over_a_directory
    cache = open_cache(ttl: 1000, jitter: 0.5, clock: ManualClock.new)
    lefts = Array.new(100) do |number|
      cache.set(number.to_s, 1)
      cache.ttl(number.to_s)
    end

    assert(lefts.all? { |left| left.between?(500, 1000) })
    assert_operator lefts.uniq.size, :>, 1
    cache.set("own", 1, ttl: 1000)

    assert_in_delta 1000.0, cache.ttl("own")
  end

  def test_durations
    cache = open_cache(clock: ManualClock.new)
    { 5 => 5.0, 0.25 => 0.25, Rational(1, 3) => 0.334, BigDecimal("1.5") => 1.5, "5m" => 300.0,
      "250ms" => 0.25, 0.0001 => 0.001, "1d" => 86_400.0 }.each do |ttl, seconds|
      cache.set("k", 1, ttl: ttl)

      assert_in_delta seconds, cache.ttl("k"), 0.0001, ttl.inspect
    end
  end

  def test_the_longest_duration
    cache = open_cache(clock: ManualClock.new(0))
    cache.set("k", 1, ttl: Rational((2**48) - 1, 1000))

    assert_in_delta 281_474_976_710.655, cache.ttl("k"), 0.0001
  end

  def test_durations_that_are_none
    cache = open_cache
    [0, 0.0, -1, -0.5, Float::NAN, Float::INFINITY, -Float::INFINITY, 2**48, 2**70,
     Rational(2**48, 1000), BigDecimal("NaN"), BigDecimal("1E-500"), BigDecimal("1E+500"),
     Complex(1, 1), "5", "5 m", " 5m", "m", "", "0s", "1.5s", "-1s", "\xFF", "٥m", true, false,
     Object.new, [], {}, :forever].each do |ttl|
      assert_raises(Polycache::InvalidArgument, ttl.inspect) { cache.set("k", 1, ttl: ttl) }
      assert_raises(Polycache::InvalidArgument) { cache.fetch("k", ttl: ttl) { flunk } }
    end
    refute cache.has?("k")
  end

  # ActiveSupport's durations are not Numerics, but say that they are.
  def test_a_duration_may_stand_for_its_number
    minutes = Class.new(BasicObject) do
      def is_a?(klass) = klass == ::Numeric
      def to_f = 300.0
      def to_r = 300r
      def inspect = "5 minutes"
    end
    cache = open_cache(clock: ManualClock.new)
    cache.set("k", 1, expires_in: minutes.new)

    assert_in_delta 300.0, cache.ttl("k")
  end

  def test_what_another_program_made_is_refused
    FileUtils.mkdir_p(File.join(@directory, "theirs", "v2"))
    File.write(File.join(@directory, "theirs", "v2", "users.rb"), "")
    error = assert_raises(Polycache::ForeignDirectory) do
      Polycache::Cache.new(path: File.join(@directory, "theirs"))
    end

    assert_equal "foreign_directory", error.code
    refute_predicate error, :retryable?
  end
end
