# frozen_string_literal: true

require "memory/helper"

# What MemoryCache does, by the words of spec/memory.md and spec/semantics.md.
class MemoryCacheTest < Minitest::Test
  include MemoryCaches

  MISS = Object.new

  def test_needs_no_native_extension
    code = 'require "polycache/memory"; c = Polycache::MemoryCache.new; c[:k] = [1]; ' \
           'print c["k"], defined?(Polycache::Native).inspect'
    PlainLibrary.in_a_folder do |folder|
      assert_equal "[1]nil", IO.popen([RbConfig.ruby, "-I#{folder}", "-e", code], &:read)
      # One that this Ruby cannot load.
      File.write("#{folder}/polycache/polycache.#{RbConfig::CONFIG["DLEXT"]}", "no library")

      assert_equal "[1]nil", IO.popen([RbConfig.ruby, "-I#{folder}", "-e", code], &:read)
    end
  end

  def test_a_miss_is_no_nil
    tested = cache
    tested.set("k", nil)

    assert_nil tested.get("k", MISS)
    assert_same MISS, tested.get("other", MISS)
    assert_nil tested.fetch("k") { flunk }
    assert tested.has?("k")
  end

  def test_text_its_bytes_and_its_symbol_are_one_key
    tested = cache
    tested.set(:é, 1)
    ["é", "é".b, "é".encode("ISO-8859-1"), "é".encode("UTF-16LE"), :é].each do |key|
      assert_equal 1, tested.get(key), key.encoding
    end
    tested.set("é".b, 2)

    assert_equal ["é"], tested.keys
    assert_equal 1, tested.size
    tested.set("\xff".b, 3)

    assert_equal [Encoding::BINARY], tested.keys("\xff".b).map(&:encoding)
    assert_equal 3, tested.get("\xff".b)
  end

  def test_wrong_keys
    tested = cache
    [nil, 1, "\xff", [], Object.new].each do |key|
      %i[get peek has? delete take ttl touch increment entry].each do |operation|
        assert_raises(Polycache::InvalidKey, "#{operation} #{key.inspect}") do
          tested.send(operation, key)
        end
      end
      assert_raises(Polycache::InvalidKey) { tested.set(key, 1) }
      assert_raises(Polycache::InvalidKey) { tested.fetch(key) { flunk } }
    end
  end

  def test_wrong_options
    [
      { max_entries: 0 }, { max_entries: -1 }, { max_entries: 1.5 }, { max_entries: (2**24) + 1 },
      { max_entries: "10" }, { max_bytes: 0 }, { max_bytes: -1 }, { max_bytes: "64M" },
      { max_bytes: Float::NAN }, { ttl: 0 }, { ttl: -1 }, { ttl: Float::NAN },
      { ttl: Float::INFINITY },
      { ttl: "5" }, { ttl: "-5s" }, { ttl: Object.new }, { expires_in: 0 }, { policy: "fifo" },
      { isolation: "copy" }, { isolation: nil }, { time_to_idle: 0 },
      { time_to_idle: true }, { sliding: true }, { weigher: 1 }, { clock: 5 },
      { removal_listener: "x" }, { lease_timeout: 0.062 }, { lease_timeout: "9h" }, { max: 5 }
    ].each do |options|
      assert_raises(Polycache::InvalidArgument, options.inspect) do
        Polycache::MemoryCache.new(**options)
      end
    end
  end

  def test_what_is_refused_changes_nothing
    tested = cache
    tested.set("k", "old")
    [0, -1, Float::NAN, Float::INFINITY, "5", "1y", 2**48].each do |ttl|
      assert_raises(Polycache::InvalidArgument, ttl.inspect) { tested.set("k", "new", ttl: ttl) }
      assert_raises(Polycache::InvalidArgument) { tested.fetch("other", ttl: ttl) { flunk } }
      assert_raises(Polycache::InvalidArgument) { tested.touch("k", ttl: ttl) }
    end
    error = assert_raises(Polycache::UnsupportedValue) { tested.set("k", { "a" => [1, proc {}] }) }

    assert_equal "$.a[1]", error.path
    ["a\u3042", "a".encode("UTF-16LE"), "\xff"].each do |key|
      error = assert_raises(Polycache::UnsupportedValue) { tested.set("k", { key => proc {} }) }

      assert_equal "$[#{key.inspect}]", error.path
    end
    assert_equal "old", tested.get("k")
  end

  def test_an_entry_too_large_deletes_what_it_should_have_replaced
    tested = cache(max_bytes: "10kB")
    tested.set("k", "old")
    error = assert_raises(Polycache::EntryTooLarge) { tested.set("k", "x" * 10_000) }

    assert_operator error.size, :>, error.limit
    assert_equal 10_000, error.limit
    refute tested.has?("k")
  end

  def test_a_loaded_entry_too_large_is_handed_over
    tested = cache(max_bytes: "10kB")
    said = capture_io do
      2.times { assert_equal("x" * 10_000, tested.fetch("k") { "x" * 10_000 }) }
    end.last

    assert_equal 1, said.scan("entry_too_large").size
    assert_equal 2, tested.stats[:unstored]
    assert_equal("next", tested.fetch("k") { "next" })
    strict = cache(max_bytes: "10kB", store_errors: "raise")
    assert_raises(Polycache::EntryTooLarge) { strict.fetch("k") { "x" * 10_000 } }
  end

  def test_bytes_are_bounded
    tested = cache(max_bytes: 100_000)
    1000.times { |number| tested.set("key #{number}", { "text" => "x" * number }) }

    assert_operator tested.stats[:bytes], :<=, 100_000
    assert_operator tested.size, :>, 50
  end

  def test_the_parts_of_what_is_not_copied_are_weighed_too
    %w[none clone].each do |isolation|
      tested = cache(isolation: isolation)
      tested.set("k", ["x" * 1000, { "a" => "y" * 1000, "b" => ["z" * 1000, 1] }])

      assert_operator tested.stats[:bytes], :>, 3000, isolation
    end
  end

  def test_without_bytes_nothing_is_weighed
    tested = cache(max_bytes: nil)
    tested.set("k", "x" * 1_000_000)

    assert_equal Float::INFINITY, tested.stats[:max_bytes]
    assert tested.has?("k")
  end

  def test_weigher
    tested = cache(max_bytes: 10, weigher: ->(key, value) { key.size + value })
    tested.set("a", 4)
    tested.set("b", 4)

    assert_equal 10, tested.stats[:bytes]
    tested.set("c", 1)

    assert_operator tested.stats[:bytes], :<=, 10
    [-1, 1.5, nil, "3"].each do |weight|
      wrong = cache(weigher: ->(*) { weight })
      assert_raises(Polycache::InvalidArgument) { wrong.set("k", 1) }
    end
  end

  def test_take_peek_entry
    tested = cache(max_entries: 2, policy: "lru")
    tested.set("a", [1], ttl: 5)
    tested.set("b", 2)

    assert_equal [1], tested.peek("a")
    tested.set("c", 3)

    refute tested.has?("a"), "a peek is not a use"
    found = tested.entry("c")

    assert_equal ["c", 3, Float::INFINITY], [found.key, found.value, found.ttl]
    assert_equal 3, tested.take("c")
    assert_same MISS, tested.take("c", MISS)
    assert_nil tested.entry("c")
  end

  def test_many
    tested = cache
    tested.set_many({ "a" => 1, b: nil }, ttl: 5)

    assert_equal({ a: 1, "b" => nil }, tested.get_many([:a, "b", "c"]))
    loaded = tested.get_or_set_many(%w[a c d]) do |keys|
      assert_equal %w[c d], keys
      { "c" => "c!" }
    end

    assert_equal({ "a" => 1, "c" => "c!" }, loaded)
    assert_equal 2, tested.delete_many(%w[a c d])
  end

  # Of several callers one gets a value, and each value is somebody's.
  def test_threads_that_take
    tested = cache
    keys = Array.new(200, &:to_s)
    keys.each { |key| tested.set(key, [key]) }
    taken = Array.new(4) { Thread.new { keys.filter_map { |key| tested.take(key) } } }
                 .flat_map(&:value)

    assert_equal keys.sort, taken.flatten.sort
    assert_equal 0, tested.size
  end

  def test_numbers
    tested = cache
    assert_equal 1, tested.increment("n", ttl: 5)
    assert_equal 6, tested.increment("n", 5, ttl: nil)
    assert_equal 4, tested.decrement("n", 2)
    assert_in_delta 4.5, tested.increment("n", 0.5)
    assert_in_delta 5.0, tested.ttl("n")
    @clock.advance(5000)

    assert_equal(-1, tested.decrement("n"))
    assert_raises(Polycache::InvalidArgument) { tested.increment("n", "1") }
    assert_raises(Polycache::InvalidArgument) { tested.increment("n", Float::NAN) }
    ["1", Array.new(50) { +"x" }, Float::INFINITY].each do |value|
      tested.set("k", value)
      error = assert_raises(Polycache::WrongType) { tested.increment("k") }

      assert_equal "$", error.path
      assert_equal value, tested.get("k")
    end
    tested.set("most", Float::MAX)
    assert_raises(Polycache::InvalidArgument) { tested.increment("most", Float::MAX) }

    assert_in_delta Float::MAX, tested.get("most")
  end

  def test_a_loaded_value_that_cannot_be_weighed_does_not_keep_others_from_being_stored
    weigher = ->(_, value) { value == 1 ? raise("no weight") : 1 }
    tested = cache(weigher: weigher, max_bytes: 10)
    error = assert_raises(RuntimeError) do
      tested.get_or_set_many(%w[a b]) { { "a" => 1, "b" => 2 } }
    end

    assert_equal "no weight", error.message
    assert_equal [false, 2], [tested.has?("a"), tested.get("b")]
  end

  def test_set_many_checks_its_options_without_entries_too
    tested = cache
    [
      { ttl: -1 }, { expires_in: "x" }, { time_to_idle: 0 }, { ttl: 1, expires_in: 1 }
    ].each do |wrong|
      assert_raises(Polycache::InvalidArgument, wrong.inspect) { tested.set_many({}, **wrong) }
    end
    assert_raises(ArgumentError) { tested.set_many({}, tll: 5) }
    [nil, "ab", %w[a b], 5].each do |wrong|
      assert_raises(Polycache::InvalidArgument, wrong.inspect) { tested.set_many(wrong) }
    end
    tested.set_many({ "a" => 1 }, ttl: 5, time_to_idle: 2)

    assert_in_delta 2, tested.ttl("a")
  end

  def test_brackets_call_what_a_subclass_overrides
    shouting = Class.new(Polycache::MemoryCache) do
      def get(key) = super&.upcase
      def set(key, value) = super(key, "#{value}!")
    end
    tested = Class.new(shouting).new
    tested["k"] = "v"

    assert_equal ["V!", nil], [tested["k"], tested["absent"]]
  end

  def test_stats
    tested = cache(max_entries: 1)
    tested.set("a", 1)
    tested.get("a")
    tested.get("b")
    tested.set("b", 1)
    tested.delete("b")

    counts = { hits: 1, misses: 1, writes: 2, deletes: 1, invalidated_loads: 0, unstored: 0,
               wait_timeouts: 0, expired: 0, evicted: 1 }
    bounds = { max_entries: 1, max_bytes: 64 << 20 }

    assert_equal({ **counts, entries: 0, bytes: 0, **bounds }, tested.stats)
  end

  def test_clear_forgets_everything
    tested = cache
    tested.set("a", 1, ttl: 5)
    tested.clear

    assert_empty tested.keys
    assert_equal 0, tested.bytes
  end
end
