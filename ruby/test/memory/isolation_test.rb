# frozen_string_literal: true

require "bigdecimal"
require "memory/helper"

# Who sees a change of an object that was stored or handed out.
class IsolationTest < Minitest::Test
  include MemoryCaches

  VALUES = lambda do
    [
      nil, true, -1, 2**80, 1.5, :symbol, "text", "bytes\xff".b, [1, [2, "x"]],
      { "a" => { "b" => ["c"] } },
      Set[1, Set["x"]], Time.at(1, 5, :nsec), BigDecimal("1.5"), 1r, 2i, (1..3), /x/, String
    ]
  end

  def test_clones_share_nothing
    tested = cache
    VALUES.call.each do |value|
      tested.set("k", value)
      first = tested.get("k")
      second = tested.get("k")

      [value, first, second].combination(2) do |one, other|
        assert_equal [one], [other]
        refute_same one, other unless one.frozen? || one.is_a?(Module)
      end
    end
  end

  def test_nobody_sees_the_change_of_a_clone
    tested = cache
    value = { "a" => [+"x", { "b" => Set[+"y"] }] }
    tested.set("k", value)
    value["a"][0] << "!"
    value["a"][1]["b"] << "z"
    copy = tested.get("k")
    copy["a"][0] << "!"
    copy["a"][1]["b"].clear
    copy.clear

    assert_equal({ "a" => ["x", { "b" => Set["y"] }] }, tested.get("k"))
    text = +"text"
    tested.set("k", text)
    text << "!"
    tested.get("k") << "?"

    assert_equal "text", tested.get("k")
  end

  def test_a_loaded_value_is_cloned_too
    tested = cache
    loaded = tested.fetch("k") { ["x"] }
    loaded << "y"

    assert_equal ["x"], tested.get("k")
  end

  def test_what_is_reached_twice_and_cycles_are_kept
    tested = cache
    shared = [+"x"]
    value = { "one" => shared, "other" => shared }
    value["self"] = value
    value[shared] = 1
    tested.set("k", value)
    copy = tested.get("k")

    assert_same copy, copy["self"]
    assert_same copy["one"], copy["other"]
    refute_same shared, copy["one"]
    refute_same copy["one"], tested.get("k")["one"]
  end

  def test_frozen_values_are_handed_out_themselves
    tested = cache
    text = "frozen"
    list = ["x", [1].freeze].freeze
    tested.set("text", text)
    tested.set("list", list)

    assert_same text, tested.get("text")
    assert_same list, tested.get("list")
    tested.set("shallow", [+"x"].freeze)
    tested.get("shallow")[0] << "!"

    assert_equal ["x"], tested.get("shallow")
  end

  def test_freeze
    tested = cache(isolation: "freeze")
    value = { "a" => [+"x", Set[1], Time.now] }
    tested.set("k", value)
    frozen = tested.get("k")

    refute_predicate value, :frozen?
    assert_same frozen, tested.get("k")
    [frozen, frozen["a"], *frozen["a"]].each { |part| assert_predicate part, :frozen? }
    assert_predicate tested.fetch("other") { [+"x"] }, :frozen?
  end

  def test_none
    tested = cache(isolation: :none)
    value = [proc {}, Object.new, +"x"]
    tested.set("k", value)

    assert_same value, tested.get("k")
  end

  def test_too_deep
    deep = []
    2000.times { deep = [deep] }

    assert_raises(Polycache::UnsupportedValue) { cache.set("k", deep) }
  end
end
