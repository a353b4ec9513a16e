# frozen_string_literal: true

require "memory/helper"
require "bigdecimal"
require "polycache/uuid"

# The type map in plain Ruby, as caches without a directory have it where there is no extension; and
# that the extension does the same.
class MemoryTypeMapTest < Minitest::Test
  PLAIN = Polycache::Memory::PlainCopies
  USED = Polycache::Memory::Copies
  NO_TYPES = Polycache.const_get(:Types)::NONE
  ROUNDS = 2000

  # What a value was kept as, or why it was refused.
  def kept(copies, value, freeze)
    kept, plan, bytes, changed = copies.keep_mapped(value, freeze, NO_TYPES)
    out = Object.new.extend(Polycache::Memory::HandOut).out(kept, plan)
    [look(out), bytes, changed ? true : false, out.equal?(value)]
  rescue Polycache::UnsupportedValue => e
    [e.path, e.message]
  end

  # A value with what its equality does not tell.
  def look(value)
    case value
    when Hash then value.map { |key, part| [look(key), look(part)] }
    when Array, Set then [value.class, value.map { |part| look(part) }]
    when String then [value, value.encoding]
    when Time then [value.to_r, value.utc?]
    when Float then value.nan? ? :nan : [value, value.to_s]
    when BigDecimal then value.to_s
    else value
    end
  end

  SCALARS = [
    nil, true, false, 0, -1, 2**70, -(2**63), 1.5, -0.0, Float::NAN, "text", +"own", "\u00e9",
    "a".b, "\xFF".b, "a".encode("US-ASCII"), "\u00e9".encode("ISO-8859-1"), "a".encode("UTF-16LE"),
    BigDecimal("1.5"), BigDecimal("NaN"), Time.at(0).utc, Time.at(1.5), 1.to_s
  ].freeze
  REFUSED = [
    :symbol, 1r, 1..2, Object.new, BasicObject.new, String, "\xFF",
    "a".dup.force_encoding("UTF-16LE"), Class.new(String).new("a"), Class.new(Array).new,
    Class.new(Hash).new, Class.new(Set).new, Class.new(Time).now,
    {}.compare_by_identity, Set[1].compare_by_identity, { 1 => 1 },
    { "a".b => 1 }, { a: 1, "a" => 2 }, { "\xFF" => 1 }, Set[[1]], 10**4300, 2**1_000_000,
    Time.utc(10_000), Time.utc(10**30), Struct.new(:a).new(1)
  ].freeze
  KEYS = [
    "a", "b c", "", "\"\\\n\u0001", "\u00e9", :a, :"b c", :é, "k".encode("US-ASCII")
  ].freeze

  # An object of its own: what is reached twice is weighed once, where nothing is made anew.
  def scalar(random)
    value = SCALARS.sample(random: random).dup
    random.rand(2).zero? ? value.freeze : value
  end

  def random_value(random, depth)
    case random.rand(depth.zero? ? 12 : 20)
    when 0 then REFUSED.sample(random: random)
    when 1..11 then scalar(random)
    when 12..14 then Array.new(random.rand(4)) { random_value(random, depth - 1) }
    when 15..17
      Array.new(random.rand(4)) do
        [KEYS.sample(random: random), random_value(random, depth - 1)]
      end.to_h
    when 18 then [random_value(random, depth - 1)].freeze
    else Set.new(Array.new(random.rand(3)) { scalar(random) })
    end
  end

  def test_the_extension_does_the_same
    skip "there is none" if WITHOUT_EXTENSION
    random = Random.new(14)
    values = SCALARS + REFUSED + Array.new(ROUNDS) { random_value(random, 3) }
    values.each do |value|
      [false, true].each do |freeze|
        assert_equal kept(PLAIN, value, freeze), kept(USED, value, freeze)
      end
    end
  end

  def test_what_is_refused
    REFUSED.each do |value|
      within = [{ a: value }]
      error = assert_raises(Polycache::UnsupportedValue) do
        PLAIN.keep_mapped(within, false, NO_TYPES)
      end

      assert error.path.start_with?("$[0].a"), error.path
    end
    nested = 129.times.reduce(nil) { |inner, _| [inner] }
    error = assert_raises(Polycache::UnsupportedValue) do
      PLAIN.keep_mapped(nested, false, NO_TYPES)
    end

    assert_equal "$#{"[0]" * 128}", error.path
    list = [1]
    list << list
    error = assert_raises(Polycache::UnsupportedValue) { PLAIN.keep_mapped(list, false, NO_TYPES) }

    assert_equal "$[1]", error.path
  end

  def test_what_a_reader_is_given
    value = { a: [1.to_s, 2], "c" => Time.new(2024, 1, 1, 0, 0, 0, "+05:30") }
    kept, _, _, changed = PLAIN.keep_mapped(value, false, NO_TYPES)

    assert_equal({ "a" => ["1", 2], "c" => Time.utc(2023, 12, 31, 18, 30) }, kept)
    assert changed
    assert_equal Encoding::UTF_8, kept["a"].first.encoding
    assert_predicate kept["c"], :utc?
    same = { "a" => [1, "text"] }

    refute PLAIN.keep_mapped(same, false, NO_TYPES)[3]
  end
end
