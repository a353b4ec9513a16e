# frozen_string_literal: true

require "test_helper"
require "date"

# The type map of spec/entry.md, as far as it is Ruby's own.
module TypeMapTests
  include Caches

  def setup
    super
    @cache = type_map_cache
  end

  def round_trip(value)
    @cache.set("k", value)
    @cache.get("k")
  end

  def refused(value)
    error = assert_raises(Polycache::UnsupportedValue) { @cache.set("refused", value) }
    refute @cache.has?("refused")
    error.path
  end

  def test_text_and_bytes_by_encoding
    text = ["é", "a".encode("US-ASCII"), "é".encode("ISO-8859-1"), "é".encode("UTF-16LE"),
            "日本".encode("Shift_JIS"), ""]
    bytes = ["a".b, "\xFF".b, "é".b, "".b]
    (text + bytes).each do |string|
      expected = string.encoding == Encoding::BINARY ? string : string.encode("UTF-8")
      inside = round_trip({ "a" => [string] })["a"]
      [round_trip(string), *inside].each do |found|
        assert_equal [expected, expected.encoding], [found, found.encoding]
      end
    end
  end

  def test_text_without_a_utf8_form_is_refused
    ["\xFF", "\xED\xA0\x80", "\xC3\xA9".dup.force_encoding("US-ASCII"),
     "\x81".dup.force_encoding("Windows-1252"), "a".dup.force_encoding("UTF-16LE"),
     "+".dup.force_encoding("UTF-7")].each do |text|
      assert_equal "$", refused(text)
      assert_equal "$[1].a", refused([1, { "a" => text }])
    end
  end

  def test_keys_of_a_hash_become_text
    found = round_trip({ a: 1, "b" => 2, "é".encode("ISO-8859-1") => 3, :"ä b" => 4 })

    assert_equal({ "a" => 1, "b" => 2, "é" => 3, "ä b" => 4 }, found)
    assert(found.keys.all? { |key| key.encoding == Encoding::UTF_8 && key.frozen? })
  end

  def test_other_keys_of_a_hash_are_refused
    assert_equal "$", refused({ 1 => 1 })
    assert_equal "$.a", refused({ a: { nil => 1 } })
    assert_equal "$", refused({ "a".b => 1 })
    assert_equal "$", refused({ "\xFF" => 1 })
    assert_equal "$", refused({ ["a"] => 1 })
    assert_equal "$", refused({ Time.now => 1 })
  end

  def test_a_symbol_and_a_string_that_are_one_key_are_refused
    assert_equal "$[0].a", refused([{ a: 1, "a" => 2, "b" => 3 }])
    assert_equal({ "a" => 1, "b" => 2 }, round_trip({ a: 1, "b" => 2 }))
  end

  def test_integers_of_any_size
    [0, -1, 2**62, -(2**62) - 1, (2**63) - 1, 2**63, (2**64) - 1, 2**64, -(2**63), -(2**63) - 1,
     2**127, 2**128, -(2**128), (10**4300) - 1, -(10**4300) + 1].each do |integer|
      assert_equal integer, round_trip(integer)
      assert_equal [integer, "a"], round_trip([integer, "a"])
    end
    assert_equal "$", refused(10**4300)
    assert_equal "$.a", refused({ a: 2**1_000_000 })
  end

  def test_times_are_utc_and_keep_nanoseconds
    [Time.at(0), Time.at(-1, 500_000_001, :nanosecond), Time.at(1_700_000_000, 123_456_789, :nsec),
     Time.new(2024, 2, 29, 12, 0, 0, "+05:30"), Time.utc(1), Time.utc(9999, 12, 31, 23, 59, 59),
     Time.at(1, Rational(1, 3), :nanosecond)].each do |time|
      found = round_trip(time)

      assert_predicate found, :utc?
      assert_equal [time.to_i, time.nsec], [found.to_i, found.nsec]
    end
    [Time.utc(0, 12, 31, 23, 59, 59), Time.utc(10_000), Time.utc(10**30)].each do |time|
      assert_equal "$[0]", refused([time])
    end
  end

  def test_decimals_keep_their_number
    %w[0 -0 1 -1 1.5 100 0.001 1E+21 1E+22 -1E-7 1.5E-10 NaN Infinity -Infinity
       123456789012345678901234567890.123456789 1E+999999 1E-999999].each do |text|
      decimal = BigDecimal(text)
      found = round_trip(decimal)

      assert_instance_of BigDecimal, found
      assert_equal [decimal.sign, decimal.to_s], [found.sign, found.to_s]
    end
  end

  def test_sets
    set = Set[1, "a", nil, 2.5, Polycache::UUID.random, BigDecimal("1.5"), Time.at(0).utc]

    assert_equal set, round_trip(set)
    assert_equal "$.a[1]", refused({ a: Set[1, [2]] })
    assert_equal "$[1]", refused(Set[1, :b])
  end

  # Another class would come back.
  def test_what_extends_a_class_of_the_map_is_refused
    heirs.each do |heir|
      assert_equal "$", refused(heir)
      assert_equal "$.a[1]", refused({ a: ["text that is borrowed", heir] })
    end
    assert_equal "$", refused({ heirs.first => 1 })
    assert_equal "$[0]", refused(Set[heirs.first])
    error = assert_raises(Polycache::UnsupportedValue) { @cache.set("k", heirs[2]) }
    assert_includes error.message, "would come back as Hash"
  end

  def heirs
    [Class.new(String).new("a"), Class.new(Array).new([1]), Class.new(Hash).new.merge!("a" => 1),
     Class.new(Set).new([1]), Class.new(Time).now, Class.new(Polycache::UUID).random]
  end

  def test_what_compares_by_identity_is_refused
    ways = [{}.compare_by_identity, { "a" => 1 }.compare_by_identity,
            (1..20).to_h { |key| [key.to_s, key] }.compare_by_identity,
            Set["a"].compare_by_identity]
    ways.each do |value|
      assert_equal "$", refused(value)
      assert_equal "$.a[1]", refused({ a: ["text that is borrowed", value] })
    end
  end

  # Methods of an object's own make no other class of it; they are left out.
  def test_methods_of_an_object_s_own
    text = +"a"
    def text.shout = upcase

    assert_equal [text], round_trip([text])
  end

  def test_a_hash_loses_its_default
    assert_nil round_trip(Hash.new { flunk }.merge("a" => 1))["b"]
  end

  def test_what_is_not_in_the_map_is_refused
    [:symbol, Object.new, BasicObject, 1..2, 1r, 1i, /a/, -> {}, Date.today, DateTime.now, String,
     Struct.new(:a).new(1), $stdout, Thread.current, method(:refused)].each do |value|
      assert_equal "$", refused(value)
      assert_equal "$.a[1]", refused({ a: ["text that is borrowed", value] })
    end
    assert_equal "$", refused(BasicObject.new)
  end

  def test_a_cycle_is_refused_where_it_closes
    list = [1]
    list << list
    map = { "a" => { "b" => [] } }
    map["a"]["b"] << map
    set = Set[1]
    set << [set]

    assert_equal "$[1]", refused(list)
    assert_equal "$.a.b[0]", refused(map)
    assert_equal "$[1][0]", refused(set)
  end

  def test_what_occurs_twice_is_no_cycle
    shared = ["a"]

    assert_equal [["a"], { "b" => ["a"] }], round_trip([shared, { b: shared }])
  end

  def nested(depth) = depth.times.reduce(nil) { |value, level| level.odd? ? { a: value } : [value] }

  def test_128_levels_and_no_more
    deepest = round_trip(nested(128))
    128.times { |level| deepest = level.even? ? deepest["a"] : deepest[0] }

    assert_nil deepest
    assert_equal "$#{"[0].a" * 64}", refused(nested(129))
  end

  # A fiber's stack is small.
  def test_128_levels_within_a_fiber
    value = nested(128)

    assert_equal JSON.parse(JSON.generate(value, max_nesting: 0), max_nesting: 0),
                 Fiber.new { round_trip(value) }.resume
    assert_equal "$#{"[0].a" * 64}", Fiber.new { refused(nested(129)) }.resume
  end

  def test_an_error_while_a_value_is_converted_is_the_caller_s
    broken = Set.new
    def broken.to_a = raise(IOError, "broken")

    assert_raises(IOError) { @cache.set("k", { "a" => ["text", broken] }) }
    thrown = Set.new
    def thrown.to_a = throw(:done, :thrown)

    assert_equal(:thrown, catch(:done) { @cache.set("k", [thrown]) })
    refute @cache.has?("k")
  end
end

class TypeMapTest < Minitest::Test
  include TypeMapTests

  def type_map_cache = open_cache

  def test_texts_are_their_readers_own
    refute_predicate round_trip("a"), :frozen?
  end

  # Ruby code runs while a value is converted: here it takes away what is converted.
  def test_a_value_that_changes_meanwhile
    value = ["a" * 100, nil, "b" * 100]
    value[1] = Set.new
    value[1].define_singleton_method(:to_a) do
      value.clear
      GC.start
      [1]
    end
    @cache.set("k", value)

    assert_equal ["a" * 100, Set[1]], @cache.get("k")
  end
end

# Nothing becomes bytes there, and it is all the same.
class TypeMapWithoutADirectoryTest < Minitest::Test
  include TypeMapTests

  def type_map_cache = Polycache::Cache.new
end

class TypeMapFrozenTest < Minitest::Test
  include TypeMapTests

  def type_map_cache = Polycache::Cache.new(memory: { isolation: "freeze" })
end
